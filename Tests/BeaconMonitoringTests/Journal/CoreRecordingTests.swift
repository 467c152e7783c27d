import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import Testing

@Suite("A recording of a core's inputs")
struct CoreRecordingTests {
    private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

    private static func identity(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: 1, minor: minor)
    }

    private static let constraints = (0..<UInt16(6)).map { BeaconConstraint(identity($0)) }

    /// A core that a random sequence of calls drives, and its events as text.
    private struct Life: ~Copyable {
        var core = MonitoringCore(EngineConfiguration())
        var time: Int64 = 1_000_000_000_000
        var random: SplitMix64
        var words: [String] = []
        var conditions: [(id: ConditionID, owner: String)] = []
        var parts: [CoreRecording.Part] = []
        private var regionNumber = 0

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            core.recording = CoreRecording(isOn: true)
            core.recording?.record(
                RecordedBeacons(CoreRecordingTests.constraints, includesStrangers: false))
            for receiver in 0..<UInt16(3) { core.name(ReceiverID(receiver), "R\(receiver)") }
            monitor()
            locate(margin: 6)
        }

        mutating func monitor() {
            regionNumber += 1
            let beacon = UInt16.random(in: 0..<6, using: &random)
            var region = MonitoredRegion(BeaconConstraint(CoreRecordingTests.identity(beacon)))
            region.exitTimeout = .seconds(Int.random(in: 5...40, using: &random))
            region.isExitAdaptive = Bool.random(using: &random)
            let owner = "region \(regionNumber)"
            let state: RegionState = Bool.random(using: &random) ? .inside : .unknown
            conditions.append((core.startMonitoring(region, assuming: state, owner: owner), owner))
        }

        mutating func locate(margin: Double) {
            var plan = PlacePlan((0..<3).map { PlacePlan.Place(name: "P\($0)", receivers: ["R\($0)"]) })
            plan.rules.margin = margin
            core.startLocating(plan, CoreRecordingTests.constraints)
            core.awaitBeacons([CoreRecordingTests.identity(0)])
        }

        mutating func hear() {
            let count = Int.random(in: 1...20, using: &random)
            var sightings: [Sighting] = []
            for _ in 0..<count {
                time += Int64.random(in: 0...400_000_000, using: &random)
                // Beacons from 6 on are strangers.
                let minor = UInt16.random(in: 0..<9, using: &random)
                sightings.append(
                    Sighting(
                        time: Timestamp(nanoseconds: time),
                        receiver: ReceiverID(UInt16.random(in: 0..<3, using: &random)),
                        address: DeviceAddress(bits: UInt64(minor) + 1, kind: .random),
                        identity: CoreRecordingTests.identity(minor), measuredPower: -59,
                        rssi: SignalStrength(rawValue: Int8.random(in: -90 ... -50, using: &random))))
            }
            core.receive(sightings)
            // A source whose time cannot be trusted gives none.
            if Int.random(in: 0..<8, using: &random) > 0 { core.advance(upTo: Timestamp(nanoseconds: time)) }
        }

        mutating func step() {
            let receiver = ReceiverID(UInt16.random(in: 0..<3, using: &random))
            let now = Timestamp(nanoseconds: time)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: monitor()
            case 1:
                if conditions.count > 1 { core.stopMonitoring(conditions.removeFirst().id) }
            case 2...3: core.setHearing(.interrupted, of: receiver)
            case 4: core.setHearing(.lost, of: receiver)
            case 5...8: core.setHearing(.hearing, of: receiver)
            case 9: core.setHearing(.doubtful, of: receiver)
            case 10: core.confirmHearing(of: receiver, until: now)
            case 11:
                let begin = time
                time += Int64.random(in: 1...60, using: &random) * 1_000_000_000
                core.skip(from: Timestamp(nanoseconds: begin), to: Timestamp(nanoseconds: time), of: receiver)
            case 12: core.setWallOffset(Int64.random(in: -5...5, using: &random) * 1_000_000_000, of: receiver)
            case 13: core.reassign(receiver, to: "R\(Int.random(in: 0..<5, using: &random))")
            case 14: core.setSmoothed(Bool.random(using: &random), of: receiver)
            case 15: locate(margin: Double.random(in: 0...10, using: &random))
            case 16: core.setKnownPlace("P1", of: CoreRecordingTests.identity(2))
            case 17:
                core.startSuspecting(
                    SuspicionRules(), of: [BeaconConstraint(CoreRecordingTests.identity(1))],
                    positions: ["R0": ReceiverPosition(x: 0, y: 0), "R1": ReceiverPosition(x: 90, y: 0)])
            case 18: _ = core.startRanging(BeaconConstraint(CoreRecordingTests.identity(3)))
            case 19:
                time += Int64.random(in: 1...90, using: &random) * 1_000_000_000
                core.advance(to: Timestamp(nanoseconds: time))
            default: hear()
            }
            words += core.drainEvents().compactMap { CoreRecordingTests.text($0, owner: owner($0)) }
        }

        private func owner(_ event: MonitoringEvent) -> String? {
            guard case .state(let change) = event else { return nil }
            return conditions.first { $0.id == change.condition }?.owner
        }

        mutating func take() { parts += core.recording?.take().parts ?? [] }
    }

    private static func text(_ event: MonitoringEvent, owner: String?) -> String? {
        switch event {
        case .state(let change):
            guard let owner else { return nil }
            return "\(owner) \(change.kind) \(change.state) \(change.before) \(change.wallTime.nanoseconds) "
                + "\(String(describing: change.receiver)) \(String(describing: change.identity))"
        case .placed(let change): return "\(change)"
        case .suspected(let event): return "\(event)"
        default: return nil
        }
    }

    private static func playback(_ parts: [CoreRecording.Part], into player: inout CorePlayer) throws -> [String] {
        var words: [String] = []
        func drain(_ player: inout CorePlayer) {
            for event in player.core.drainEvents() {
                var owner: String?
                if case .state(let change) = event { owner = player.owner(of: change.condition)?.label }
                if let text = text(event, owner: owner) { words.append(text) }
            }
        }
        for part in parts {
            switch part {
            case .input(let input):
                // As the file has it.
                let copy = try JSONDecoder().decode(CoreInput.self, from: JSONEncoder().encode(input))
                player.play(copy)
                drain(&player)
            case .traffic(let traffic):
                var pieces: [CoreTraffic.Piece] = []
                #expect(CoreTraffic.read(traffic.bytes) { pieces.append($0) })
                for piece in pieces {
                    player.play(piece)
                    drain(&player)
                }
            }
        }
        return words
    }

    @Test("A playback from the start gives the events that happened", arguments: 0..<40)
    func fromStart(seed: UInt64) throws {
        var life = Life(seed: seed)
        for step in 0..<300 {
            life.step()
            if step % 37 == 0 { life.take() }
        }
        life.take()
        var player = CorePlayer(MonitoringCore(EngineConfiguration()))
        let words = try Self.playback(life.parts, into: &player)
        #expect(life.words.count > 20)
        #expect(words == life.words)
    }
}

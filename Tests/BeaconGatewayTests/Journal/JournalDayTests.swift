import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

/// Writes the journal of the last day, for measurements of its replay.
@Suite("A day of the journal")
struct JournalDayTests {
    private static let folder = ProcessInfo.processInfo.environment["BEACON_JOURNAL_DAY"]

    @Test("A day at 100 adverts a second is written", .enabled(if: folder != nil))
    func day() async throws {
        let folder = try #require(Self.folder)
        let bench = try GatewayBench(keepsPresence: false)
        let journal = Journal(folder: folder, settings: JournalSettings(), logger: bench.lines.logger)
        let identities = (0..<UInt16(20)).map {
            BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: $0)
        }
        let constraints = identities.map { BeaconConstraint($0) }
        var core = MonitoringCore()
        core.recording = CoreRecording(isOn: true)
        core.recording?.record(RecordedBeacons(constraints, includesStrangers: false))
        let rooms = ["hall", "shop", "yard"]
        for (number, room) in rooms.enumerated() {
            core.addReceiver(ReceiverID(UInt16(number)))
            core.recording?.note(.title(ReceiverID(UInt16(number)), room))
            core.name(ReceiverID(UInt16(number)), room)
        }
        for (number, constraint) in constraints.enumerated() {
            _ = core.startMonitoring(
                MonitoredRegion(constraint), owner: ConditionOwner.beacon("beacon \(number)").label)
        }
        core.startLocating(
            PlacePlan(rooms.map { PlacePlan.Place(name: $0, receivers: [$0]) }), constraints)
        var random = SplitMix64(seed: 1)
        var homes = identities.map { _ in Int.random(in: 0..<3, using: &random) }
        let end = (Int64(Date().timeIntervalSince1970) - 60) * 1_000_000_000
        let begin = end - 86_400 * 1_000_000_000
        var places: [BeaconIdentity: String] = [:]
        for number in 0..<8_640_000 {
            let shift = Int64(number) * 10_000_000 + Int64.random(in: 0..<9_000_000, using: &random)
            let time = Timestamp(nanoseconds: begin + shift)
            let beacon = number / 3 % identities.count
            let receiver = number % 3
            // Each beacon walks to another room about once in two hours.
            if Int.random(in: 0..<36_000, using: &random) == 0 {
                homes[beacon] = Int.random(in: 0..<3, using: &random)
            }
            let level = (receiver == homes[beacon] ? -60 : -72) + Int.random(in: -6...6, using: &random)
            core.receive(
                Sighting(
                    time: time, receiver: ReceiverID(UInt16(receiver)),
                    address: DeviceAddress(bits: UInt64(beacon) + 1, kind: .random), identity: identities[beacon],
                    measuredPower: -59, rssi: SignalStrength(rawValue: Int8(level))))
            core.advance(upTo: time)
            for event in core.drainEvents() {
                if case .placed(let change) = event { places[change.identity] = change.place }
            }
            if number % 3000 == 2999, let taken = core.recording?.take() {
                let checkpoint = core.recording?.beginning(of: core, places: places) ?? []
                await journal.append(
                    Journal.Stretch(
                        parts: taken.parts, isContinued: taken.isContinued, calibrations: CalibrationSet(),
                        checkpoint: checkpoint, end: time.seconds))
            }
        }
        #expect(JournalFolder.files(in: folder).count > 4)
    }
}

import BeaconReceivers
import BeaconSupport
import GatewayTestSupport

@testable import BeaconModel
@testable import BeaconMonitoring
@testable import BeaconRadio

/// A room with a receiver that hears a beacon for 6 s, in virtual time. Its messages arrive at a fixed rate.
final class ScriptedRoom: Sendable {
    /// The way of the messages.
    enum Way: CaseIterable { case http, mqtt, espHome, relay }

    private struct Message {
        var time: Timestamp
        var bytes: [UInt8]
        /// True if the message has the beacon.
        var isHeard = false
    }

    private struct State {
        var now = ScriptedRoom.start
        var messages: ArraySlice<Message>
        var random = SplitMix64(seed: 1)
        /// Called once at the end.
        var end: (@Sendable () -> Void)?
    }

    static let start = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)
    private static let finish = start.advanced(by: 60 * Timestamp.nanosecondsPerSecond)

    /// The time of the last advert.
    let last: Timestamp
    private let way: Way
    private let isLate: Bool
    private let messages: [Message]

    init(_ way: Way, period: Double, fraction: Double, isForeign: Bool, isLate: Bool) {
        var messages: [Message] = []
        var time = 2 + fraction
        while time < 60 {
            let number = messages.count
            let gateway = #"{"type":"Gateway","mac":"AC233FC00001","n":\#(number)}"#
            let beacon =
                #"{"type":"iBeacon","mac":"C0005E120001","ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","#
                + #""ibeaconMajor":1,"ibeaconMinor":2,"rssi":-61,"ibeaconTxPower":-59}"#
            let other = #"{"type":"Unknown","mac":"C0005E120002","rssi":-70,"rawData":"0201060303AAFE"}"#
            let isHeard = time < 8
            let items = [gateway] + (isHeard ? [beacon] : isForeign ? [other] : [])
            messages.append(
                Message(
                    time: Self.start.advanced(by: Int64((time * 1e9).rounded())),
                    bytes: Array("[\(items.joined(separator: ","))]".utf8), isHeard: isHeard))
            time += period
        }
        self.way = way
        self.isLate = isLate
        last = messages.last { $0.isHeard }?.time ?? Self.start
        self.messages = way == .relay ? Self.relayed(messages, isLate: isLate) : messages
    }

    /// Returns the messages of a relay that receives others by HTTP.
    private static func relayed(_ messages: [Message], isLate: Bool) -> [Message] {
        let (state, isOver) = (Locked(State(messages: messages[...])), Locked(false))
        state.withLock { $0.end = { isOver.withLock { $0 = true } } }
        var session = MonitoringSession(
            MonitoringSession.Configuration(), source: source(.http, state, isLate: isLate), pace: .fastest)
        let (writer, relayed) = (Locked(RelayWriter(session: 1)), Locked<[Message]>([]))
        session.observe(each: RelayWriter.longestStretch) { batch in
            guard let time = batch.time else { return }
            let receivers = zip(batch.receiverNames, batch.receiverStatuses).map {
                RelayMessage.Receiver(name: $0, status: $1)
            }
            let message = writer.withLock { writer -> RelayMessage? in
                for sighting in batch.sightings { writer.hear(sighting) }
                return writer.advance(to: time) ? writer.message(at: time, of: receivers) : nil
            }
            // The network takes 20 ms.
            if let message {
                relayed.withLock {
                    $0.append(Message(time: time.advanced(by: 20_000_000), bytes: message.encoded()))
                }
            }
        }
        while !isOver.withLock({ $0 }), (try? session.step { _ in }) == true {}
        return relayed.withLock { $0 }
    }

    /// Returns the events of the source, as its thread delivers them.
    func events() async -> [SourceEvent] {
        let state = Locked(State(messages: messages[...]))
        let (way, isLate) = (way, isLate)
        let runner = SourceRunner(mode: .ranging) { _, _, report in
            Self.source(way, state, isLate: isLate, report: report)
        }
        state.withLock { $0.end = { runner.stop() } }
        runner.start()
        var events: [SourceEvent] = []
        for await event in runner.channel { events.append(event) }
        return events.filter { if case .ended = $0 { false } else { true } }
    }

    /// Returns the times of exits in a session of the command line.
    func sessionExits() throws -> [Double] {
        let (state, isOver) = (Locked(State(messages: messages[...])), Locked(false))
        state.withLock { $0.end = { isOver.withLock { $0 = true } } }
        var configuration = MonitoringSession.Configuration()
        configuration.regions = [.init(name: "hall", region: MonitoredRegion(GatewayBench.constraint))]
        var session = MonitoringSession(
            configuration, source: Self.source(way, state, isLate: isLate), pace: .fastest)
        var exits: [Double] = []
        while !isOver.withLock({ $0 }) {
            _ = try session.step { event in
                guard case .region(let change) = event, change.kind == .exit else { return }
                exits.append(state.withLock { $0.now.seconds })
            }
        }
        return exits
    }

    private static func source(
        _ way: Way, _ state: Locked<State>, isLate: Bool, report: @escaping (SourceEvent) -> Void = { _ in }
    ) -> SourceReader {
        let clock = LoopClock(
            now: { state.withLock { $0.now } }, wallAhead: { 0 }, asleep: { 0 },
            wait: { _, nanoseconds in
                state.withLock { state in
                    let due = state.now.advanced(by: nanoseconds)
                    let next = min(due, state.messages.first?.time ?? .latest)
                    let delay = isLate ? Int64.random(in: 0...400_000_000, using: &state.random) : 0
                    state.now = max(state.now, next).advanced(by: delay)
                    guard state.now >= finish, let end = state.end else { return }
                    state.end = nil
                    end()
                }
            })
        return SourceReader([Receivers(way, state)], clock: clock, report: report)
    }

    /// The driver of the receivers, as those of HTTP, MQTT and ESPHome.
    private final class Receivers: ReceiverDriver {
        let name = "house"
        private let way: Way
        private let script: Locked<State>
        private var network = ReceiverNetwork()

        init(_ way: Way, _ script: Locked<State>) {
            (self.way, self.script) = (way, script)
            network.connect(at: ScriptedRoom.start)
        }

        var deadline: Timestamp { network.deadline }
        var receiverNames: [String] { network.names }
        var receiverStatuses: [ReceiverStatus] { network.statuses }
        var state: RadioState { network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting }

        func process(at now: Timestamp, into batch: inout AdvertBatch) {
            let messages = script.withLock { state in
                let due = state.messages.prefix { $0.time <= now }
                state.messages = state.messages.dropFirst(due.count)
                return due
            }
            for message in messages { receive(message, &batch) }
            network.advance(to: now, into: &batch)
        }

        private func receive(_ message: Message, _ batch: inout AdvertBatch) {
            let topic =
                switch way {
                case .http, .espHome: ""
                case .mqtt: "house/gateway"
                case .relay: "beacon-relay/attic/heard"
                }
            guard way == .espHome else {
                return network.receive(
                    topic: topic.utf8.span.bytes, payload: message.bytes.span.bytes, at: message.time, into: &batch)
            }
            guard let place = network.meet("proxy", at: message.time) else { return }
            network.noteSign(of: place, at: message.time)
            let frame = IBeaconFrame(
                identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 2), measuredPower: -59)
            guard message.isHeard else { return }
            network.receiveAdvert(
                of: place, at: message.time, address: DeviceAddress(bits: 1, kind: .random), rssi: -60,
                advert: frame.advert.span.bytes, &batch)
        }
    }
}

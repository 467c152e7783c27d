import BeaconModel
import BeaconRadio
import BeaconSupport
import Testing

@testable import BeaconReceivers

@Suite("Relays of this package")
struct RelayTests {
    private static func sighting(
        _ time: Double, minor: UInt16 = 2, receiver: UInt16 = 0, rssi: Int8 = -70
    ) -> Sighting {
        Sighting(
            time: NetworkBench.time(time), receiver: ReceiverID(receiver),
            address: DeviceAddress(bits: 0xC000_0000_0000 | UInt64(minor), kind: .random),
            identity: BeaconIdentity(uuid: NetworkBench.uuidValue, major: 1, minor: minor), measuredPower: -59,
            rssi: SignalStrength(rawValue: rssi))
    }

    private static func message(
        _ from: Double, _ to: Double, session: UInt32 = 1, names: [String] = [""],
        states: [RadioState] = [.poweredOn], _ sightings: [Sighting] = []
    ) -> RelayMessage {
        var message = RelayMessage(session: session, from: NetworkBench.time(from), to: NetworkBench.time(to))
        message.receivers = zip(names, states).map { .init(name: $0, status: ReceiverStatus($1)) }
        message.sightings = sightings
        return message
    }

    /// Returns a random valid message.
    private static func randomMessage(_ random: inout SplitMix64) -> RelayMessage {
        let to = Int64.random(in: 0...Timestamp.latest.nanoseconds / 1000, using: &random)
        let from = to - Int64.random(in: 0...min(to, 1 << Int64.random(in: 0...40, using: &random)), using: &random)
        let time = { (number: Int64) in Timestamp(nanoseconds: number * 1000) }
        var message = RelayMessage(
            session: .random(in: .min ... .max, using: &random), from: time(from), to: time(to))
        let names = ["", "hci0", "Küche", String(repeating: "x", count: 64)].shuffled(using: &random)
        for name in names.prefix(.random(in: 0...4, using: &random)) {
            message.receivers.append(
                .init(
                    name: name,
                    status: ReceiverStatus(
                        RadioState.allCases.randomElement(using: &random) ?? .unknown,
                        isDoubtful: .random(using: &random), isSmoothed: .random(using: &random))))
        }
        for _ in 0..<Int.random(in: 0...message.receivers.count + 1, using: &random) {
            let end = Int64.random(in: 0...to, using: &random)
            let begin = Int64.random(in: 0...end, using: &random)
            let count = message.receivers.count
            message.deafness.append(
                .init(
                    from: time(begin), to: time(end),
                    receiver: count == 0 || .random(using: &random) ? nil : .random(in: 0..<count, using: &random)))
        }
        guard !message.receivers.isEmpty else { return message }
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            let kinds = DeviceAddress.Kind.allCases
            message.sightings.append(
                Sighting(
                    time: time(.random(in: 0...Timestamp.latest.nanoseconds / 1000, using: &random)),
                    receiver: ReceiverID(UInt16.random(in: 0..<UInt16(message.receivers.count), using: &random)),
                    address: DeviceAddress(
                        bits: .random(in: 0..<1 << 48, using: &random),
                        kind: kinds.randomElement(using: &random) ?? .random),
                    identity: BeaconIdentity(
                        uuid: ProximityUUID(high: .random(in: 0...2, using: &random), low: 7),
                        major: .random(in: 0...3, using: &random), minor: .random(in: .min ... .max, using: &random)),
                    measuredPower: .random(in: .min ... .max, using: &random),
                    rssi: SignalStrength(rawValue: .random(in: .min ... .max, using: &random))))
        }
        return message
    }

    @Test("Any message is decoded as it was encoded, and a truncated one is rejected")
    func roundTrip() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            let message = Self.randomMessage(&random)
            let bytes = message.encoded()
            #expect(try RelayMessage(bytes.span.bytes) == message)
            let shorter = Array(bytes.prefix(.random(in: 0..<bytes.count, using: &random)))
            #expect(throws: MessageFault.self) { try RelayMessage(shorter.span.bytes) }
            var other = bytes
            other[.random(in: 0..<bytes.count, using: &random)] ^= .random(in: 1...255, using: &random)
            _ = try? RelayMessage(other.span.bytes)
        }
    }

    @Test("The bytes of a message match the documentation")
    func bytes() {
        var message = Self.message(1, 1.25, session: 0x0403_0201, names: ["hci0"], [Self.sighting(1.1)])
        message.deafness = [.init(from: NetworkBench.time(1), to: NetworkBench.time(1.2), receiver: 0)]
        let expected: [[UInt8]] = [
            Array("bR".utf8), [1, 1, 2, 3, 4],
            [0xD0, 0x12, 0x13, 0, 0, 0, 0, 0],  // 1 250 000
            [0x90, 0xA1, 0x0F],  // 250 000
            [1, 5, 4], Array("hci0".utf8),
            [1, 1, 0x90, 0xA1, 0x0F, 0xD0, 0x86, 0x03],  // 250 000, 50 000
            [1, 0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0],
            [1, 0, 1, 0, 2, 0, 0xC5, 1, 2, 0, 0, 0, 0, 0xC0],
            [1, 0, 0, 0xC0, 0x9A, 0x0C, 0xBA],  // 100 000 twice, since it may be negative
        ]
        #expect(message.encoded() == Array(expected.joined()))
    }

    @Test("A relay's adverts get the right times even if its clock is wrong")
    func hearing() {
        var bench = NetworkBench()
        bench.receive(
            "beacon-relay/hall/heard",
            Self.message(5000, 5000.25, [Self.sighting(5000.1), Self.sighting(5000.2, minor: 3)]).encoded(), at: 1001)
        #expect(bench.heard == ["0 c0:00:00:00:00:02 1/2 -59 -70", "0 c0:00:00:00:00:03 1/3 -59 -70"])
        #expect(bench.times.map { ($0 * 1000).rounded() / 1000 } == [1000.85, 1000.95])
        // The next message takes longer. The fastest one determines the times of its adverts.
        bench.receive(
            "beacon-relay/hall/heard", Self.message(5000.25, 5000.5, [Self.sighting(5000.3)]).encoded(), at: 1001.4)
        #expect(bench.times.last.map { ($0 * 1000).rounded() / 1000 } == 1001.05)
        #expect(bench.hearing == ["hall hears"] && bench.deaf.isEmpty && bench.notices.isEmpty)
    }

    @Test(
        "Gaps between messages and a restart of the relay count as deafness; duplicates do not")
    func gaps() {
        var bench = NetworkBench()
        let topic = "museum/beacon-relay/hall/heard"
        bench.receive(topic, Self.message(5000, 5000.25).encoded(), at: 1001)
        bench.receive(topic, Self.message(5000.25, 5000.5).encoded(), at: 1001.25)
        #expect(bench.deaf.isEmpty)
        bench.receive(topic, Self.message(5002, 5002.25, [Self.sighting(5002.1)]).encoded(), at: 1003)
        #expect(bench.deaf == ["0 1001.25...1002.75"])
        bench.receive(topic, Self.message(5002, 5002.25, [Self.sighting(5002.1)]).encoded(), at: 1003.1)
        #expect(bench.heard.count == 1 && bench.network.duplicates == 1)
        // Its clock was set back by the restart.
        bench.receive(topic, Self.message(20, 20.25, session: 2, [Self.sighting(20.1)]).encoded(), at: 1005)
        #expect(bench.deaf.count == 2 && bench.deaf.last == "0 1003.0...1004.75")
        #expect(bench.heard.count == 2)
    }

    @Test("The states that a relay reports apply to each of its receivers")
    func states() {
        var bench = NetworkBench()
        let topic = "beacon-relay/hall/heard"
        var message = Self.message(
            5000, 5000.25, names: ["hci0", "hci1"], states: [.poweredOn, .poweredOff],
            [Self.sighting(5000.1, receiver: 0)])
        message.deafness = [.init(from: NetworkBench.time(5000.05), to: NetworkBench.time(5000.15), receiver: 1)]
        bench.receive(topic, message.encoded(), at: 1001)
        #expect(bench.hearing == ["hall/hci0 hears", "hall/hci1 deaf"])
        #expect(bench.network.statuses.map(\.state) == [.poweredOn, .poweredOff])
        #expect(bench.deaf == ["1 1000.8...1000.9"])
        bench.receive("beacon-relay/hall/status", "offline", at: 1001.1)
        #expect(bench.hearing == ["hall/hci0 deaf", "hall/hci1 deaf"])
        bench.receive("beacon-relay/hall/status", "online", at: 1002)
        bench.receive(
            topic,
            Self.message(5000.25, 5001.25, names: ["hci0", "hci1"], states: [.poweredOn, .poweredOn]).encoded(),
            at: 1002.1)
        #expect(bench.hearing == ["hall/hci0 hears", "hall/hci1 hears"])
    }

    @Test("A silent relay is doubtful after half a second, and deaf once its broker reports it")
    func silence() {
        var bench = NetworkBench()
        bench.receive("beacon-relay/hall/heard", Self.message(5000, 5000.25).encoded(), at: 1001)
        bench.pass(to: 1001.4)
        #expect(bench.hearing == ["hall hears"])
        bench.pass(to: 1002)
        #expect(bench.hearing == ["hall doubtful"])
        bench.receive("beacon-relay/hall/status", "offline", at: 1008, isRetained: true)
        #expect(bench.hearing == ["hall deaf"] && bench.deaf == ["0 1001.0...1008.0"])
    }

    @Test("A late message is skipped, and its period counts as deafness")
    func lateness() {
        var bench = NetworkBench()
        let topic = "beacon-relay/hall/heard"
        bench.receive(topic, Self.message(5000, 5000.25).encoded(), at: 1001)
        bench.receive(topic, Self.message(5000.25, 5000.5, [Self.sighting(5000.3)]).encoded(), at: 1021)
        #expect(bench.heard.isEmpty && bench.network.lateAdverts == 1)
        bench.receive(topic, Self.message(5020.5, 5020.75, [Self.sighting(5020.6)]).encoded(), at: 1021.5)
        #expect(bench.heard.count == 1 && bench.deaf == ["0 1001.0...1021.25"])
    }

    @Test("Retained, newer and malformed messages are not used; a relay ignores relays")
    func others() {
        var bench = NetworkBench()
        let topic = "beacon-relay/hall/heard"
        let bytes = Self.message(5000, 5000.25, [Self.sighting(5000.1)]).encoded()
        bench.receive(topic, bytes, at: 1001, isRetained: true)
        bench.receive(topic, "{}", at: 1001.1)
        var later = bytes
        later[2] = 2
        bench.receive(topic, later, at: 1001.2)
        #expect(bench.heard.isEmpty && bench.notices.count == 2)
        #expect(bench.notices.last?.contains("update this one") == true)
        var settings = ReceiverNetwork.Settings()
        settings.acceptsRelays = false
        bench = NetworkBench(settings)
        bench.receive(topic, bytes, at: 1001)
        #expect(bench.heard.isEmpty && bench.notices.isEmpty && bench.network.names.isEmpty)
    }

    @Test("A writer's messages are adjacent and contain all adverts")
    func writer() throws {
        var writer = RelayWriter(session: 7)
        var random = SplitMix64(seed: 2)
        var time = 100.0
        var expected: [Sighting] = []
        var messages: [RelayMessage] = []
        for _ in 0..<5000 {
            time += .random(in: 0...0.4, using: &random)
            for minor in 0..<UInt16.random(in: 0...3, using: &random) {
                let sighting = Self.sighting(time, minor: minor)
                expected.append(sighting)
                writer.hear(sighting)
            }
            let now = NetworkBench.time(time)
            if writer.advance(to: now), let message = writer.message(at: now, of: []) { messages.append(message) }
        }
        messages.append(contentsOf: [writer.message(at: NetworkBench.time(time + 1), of: [])].compactMap(\.self))
        #expect(messages.flatMap(\.sightings) == expected)
        for (one, next) in zip(messages, messages.dropFirst()) { #expect(one.to == next.from && next.to > next.from) }
    }

    @Test("A backlog ends the doubt only when it is complete, and a slow connection is doubtful")
    func backlog() {
        var bench = NetworkBench()
        let topic = "beacon-relay/hall/heard"
        bench.receive(topic, Self.message(5000, 5000.25).encoded(), at: 1001)
        // No message for four seconds, and then all at once.
        bench.pass(to: 1005)
        #expect(bench.hearing == ["hall doubtful"])
        for number in 1...16 {
            let from = 5000 + Double(number) / 4
            bench.receive(topic, Self.message(from, from + 0.25).encoded(), at: 1005 + Double(number) / 100)
            let isThrough = 1005 + Double(number) / 100 - (from + 0.25 - 5000.25 + 1001) <= 0.5
            #expect(bench.hearing == ["hall \(isThrough ? "hears" : "doubtful")"], "\(number)")
        }
        #expect(bench.deaf.isEmpty)
        // Every other message arrives in time: the delay grows.
        for number in 1...8 {
            let from = 5004.25 + Double(number - 1) / 4
            bench.receive(topic, Self.message(from, from + 0.25).encoded(), at: 1005.2 + Double(number) / 2)
        }
        bench.pass(to: 1009.3)
        #expect(bench.hearing == ["hall doubtful"])
    }

    @Test("A receiver that a relay no longer has after a restart is off, and the restart counts as deafness")
    func fewerReceivers() {
        var bench = NetworkBench()
        let topic = "beacon-relay/hall/heard"
        bench.receive("beacon-relay/hall/status", "online", at: 1000.5, isRetained: true)
        bench.receive(
            topic, Self.message(5000, 5000.25, names: ["hci0", "hci1"], states: [.poweredOn, .poweredOn]).encoded(),
            at: 1001)
        // It arrives late: its adverts are 3 s older than its arrival.
        bench.receive(
            topic, Self.message(5000.25, 5000.5, names: ["hci0", "hci1"], states: [.poweredOn, .poweredOn]).encoded(),
            at: 1004.25)
        #expect(bench.hearing == ["hall/hci0 doubtful", "hall/hci1 doubtful"])
        bench.receive("beacon-relay/hall/status", "online", at: 1006)
        #expect(bench.hearing == ["hall/hci0 doubtful", "hall/hci1 doubtful"])
        #expect(bench.deaf == ["0 1001.25...1006.0", "1 1001.25...1006.0"])
        bench.receive(topic, Self.message(70, 70.25, session: 2).encoded(), at: 1007)
        #expect(bench.hearing == ["hall/hci0 deaf", "hall/hci1 deaf", "hall hears"])
        bench.pass(to: 1030)
        #expect(bench.hearing.prefix(2) == ["hall/hci0 deaf", "hall/hci1 deaf"])
    }

    @Test("Malicious messages are rejected and use no memory")
    func harm() {
        var bench = NetworkBench()
        // More receivers than there are numbers, and an advert of a receiver beyond them.
        var message = Self.message(5000, 5000.25, [Self.sighting(5000.1, receiver: 65_535)])
        message.receivers = (0..<65_537).map { .init(name: "\($0)", status: ReceiverStatus(.poweredOn)) }
        bench.receive("beacon-relay/a/heard", message.encoded(), at: 1001)
        // The same name for all receivers, and a deaf period for each of them.
        message = Self.message(5000, 5000.25)
        message.receivers = (0..<100).map { _ in .init(name: "", status: ReceiverStatus(.poweredOn)) }
        bench.receive("beacon-relay/a/heard", message.encoded(), at: 1001.1)
        message.receivers = [.init(name: "", status: ReceiverStatus(.poweredOn))]
        message.deafness = (0..<1000).map { _ in .init(from: message.from, to: message.to, receiver: nil) }
        bench.receive("beacon-relay/a/heard", message.encoded(), at: 1001.2)
        // Relays without receivers, and a name that is too long among others.
        message.deafness = []
        message.receivers = []
        for number in 0..<500 { bench.receive("beacon-relay/\(number)/heard", message.encoded(), at: 1002) }
        message.receivers = [
            .init(name: "hci0", status: ReceiverStatus(.poweredOn)),
            .init(name: String(repeating: "x", count: 65), status: ReceiverStatus(.poweredOn)),
        ]
        bench.receive("beacon-relay/a/heard", message.encoded(), at: 1003)
        #expect(bench.network.names.isEmpty && bench.network.relays.isEmpty && bench.deaf.isEmpty)
        // A name that is a keyword of another format.
        bench.receive("beacon-relay/BTtoMQTT/heard", Self.message(5000, 5000.25).encoded(), at: 1004)
        #expect(bench.network.names == ["BTtoMQTT"])
    }

    @Test("A writer loses nothing if the time of its source goes back or stands still")
    func standing() {
        var writer = RelayWriter(session: 7)
        let now = NetworkBench.time(100)
        let isDue = writer.advance(to: now)
        #expect(!isDue)
        let receivers = [RelayMessage.Receiver(name: "", status: ReceiverStatus(.poweredOn))]
        var messages: [RelayMessage] = []
        for number in 0..<6000 {
            writer.hear(Self.sighting(90 + Double(number) / 1000, minor: UInt16(number)))
            if writer.advance(to: now), let message = writer.message(at: now, of: receivers) {
                messages.append(message)
            }
        }
        if let message = writer.message(at: now, of: receivers) { messages.append(message) }
        #expect(messages.flatMap(\.sightings).map(\.identity.minor) == (0..<6000).map { UInt16($0) })
        #expect(messages.count == 3)
        for (one, next) in zip(messages, messages.dropFirst()) { #expect(one.to == next.from && next.to > next.from) }
        for message in messages {
            let bytes = message.encoded()
            #expect((try? RelayMessage(bytes.span.bytes)) == message)
        }
    }

    @Test("Several deaf periods of a receiver become one")
    func manyDeafPeriods() {
        var writer = RelayWriter(session: 7)
        _ = writer.advance(to: NetworkBench.time(100))
        for number in 0..<1000 {
            writer.noteDeafness(
                .init(
                    from: NetworkBench.time(99 + Double(number % 7) / 10), to: NetworkBench.time(100),
                    receiver: number % 100))
        }
        let names = (0..<100).map { RelayMessage.Receiver(name: "\($0)", status: ReceiverStatus(.poweredOn)) }
        let message = writer.message(at: NetworkBench.time(101), of: names)
        #expect(
            message?.deafness.count == 100 && message?.deafness.allSatisfy { $0.from == NetworkBench.time(99) } == true)
    }
}

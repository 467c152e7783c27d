import BeaconModel
import BeaconRadio
import Foundation
import Testing

@testable import BeaconSimulation

@Suite("Shared air")
struct AirStationTests {
    /// An air in a temporary folder, with a clock that the test sets.
    final class Bench {
        let runtime: String
        var now: Int64 = 1_000_000_000_000

        init() throws {
            runtime = NSTemporaryDirectory() + "air-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: runtime) }

        func folder(_ name: String = "default") throws -> AirFolder { try AirFolder(name: name, runtime: runtime) }

        func station(_ place: String = "", _ program: String = "program") throws -> AirStation {
            let location = try AirLocation(place)
            return try AirStation(location, in: folder(location.name), program: program, at: now)
        }

        /// Adds a plan without fading and without long losses, because both differ between processes, and a near
        /// listener can otherwise miss the first second.
        func calm(_ place: String = "") throws -> AirStation {
            let air = try station(place, "calm")
            try air.play(
                scenario: Array(
                    #"""
                    {"duration": 100000,
                     "environment": {"shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": null, "loss": 0.05,
                                     "lossSpread": 0, "lossTime": 0.01}}
                    """#.utf8), at: now)
            return air
        }

        /// Returns a member's adverts in the next seconds, with ten readings a second.
        func hear(_ station: AirStation, _ seconds: Int, also others: [AirStation] = []) throws -> [Advert] {
            var adverts: [Advert] = []
            for _ in 0..<seconds * 10 {
                now += 100_000_000
                for other in others { other.update(at: now) }
                try station.hear(until: now) { heard, advert in
                    let bytes = advert.withUnsafeBytes { Array($0) }
                    adverts.append(
                        Advert(
                            time: heard.time, rssi: Int(heard.report.rssi.rawValue), address: heard.report.address,
                            frame: IBeaconFrame(advert: bytes.span.bytes)))
                }
                station.update(at: now)
            }
            return adverts
        }
    }

    struct Advert: Equatable {
        var time: Int64
        var rssi: Int
        var address: DeviceAddress
        var frame: IBeaconFrame?
    }

    static let uuid = ProximityUUID(high: 1, low: 2)

    static func frame(_ minor: UInt16 = 1) -> IBeaconFrame {
        IBeaconFrame(identity: BeaconIdentity(uuid: uuid, major: 1, minor: minor), measuredPower: -59)
    }

    @Test("A member hears another's adverts ten times a second, weaker with distance, until that one ends")
    func hearing() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let near = try bench.station("@1,0"), far = try bench.station("@9,0"), sender = try bench.station("@0,0")
        for listener in [near, far] { listener.listen(true, at: bench.now) }
        #expect(try bench.hear(near, 1).isEmpty)
        try sender.send([OutgoingAdvert(Self.frame())], at: bench.now)
        near.update(at: bench.now)
        let heard = try bench.hear(near, 10)
        // One advert each 100 to 110 ms, and one of twenty is lost (docs/scenarios.md).
        #expect(80...100 ~= heard.count)
        #expect(heard.allSatisfy { $0.frame == Self.frame() })
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.time < $1.time })
        bench.now -= 10_000_000_000
        far.update(at: bench.now)
        let fewer = try bench.hear(far, 10)
        let mean = { (adverts: [Advert]) in Double(adverts.reduce(0) { $0 + $1.rssi }) / Double(adverts.count) }
        // 17.5 dB per decade by default.
        #expect(mean(heard) == -59)
        #expect(mean(fewer) == -76)
        // Both heard the same adverts at the same times, except for lost ones.
        #expect(Set(fewer.map(\.time)).intersection(heard.map(\.time)).count > 60)
        try sender.send([], at: bench.now)
        near.update(at: bench.now)
        _ = try bench.hear(near, 1)
        #expect(try bench.hear(near, 2).isEmpty)
    }

    @Test("Names and services are heard, a beacon's in its scan response, and so are other devices")
    func devices() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let listener = try bench.station("@1,0"), sender = try bench.station("@0,0")
        listener.listen(true, at: bench.now)
        var beacon = OutgoingAdvert(Self.frame())
        beacon.localName = "a \"till\"\n"
        let device = OutgoingAdvert(
            frame: nil, localName: "Lamp", services: [ServiceUUID(short: 0x180D), ServiceUUID(high: 1, low: 2)])
        try sender.send([beacon, device], at: bench.now)
        listener.update(at: bench.now)
        var contents: [DeviceAddress: [AdvertContents]] = [:]
        var kinds: Set<AdvertisingReport.Kind> = []
        bench.now += 2_000_000_000
        try listener.hear(until: bench.now) { heard, advert in
            kinds.insert(heard.report.kind)
            contents[heard.report.address, default: []].append(AdvertContents(advert: advert))
        }
        let read = contents.values.map { $0.reduce(AdvertContents()) { $1.merging($0) } }
        #expect(Set(read.map(\.localName)) == ["a \"till\"\n", "Lamp"])
        #expect(read.map { Set($0.services) }.contains(Set(device.services)))
        #expect(kinds == [.scannable, .scanResponse, .nonConnectable] || kinds == [.scannable, .scanResponse])
        let member = try #require(listener.members(at: bench.now).first { $0.beacons.count == 1 })
        #expect(member.beacons.map(\.identity) == [Self.frame().identity])
    }

    @Test("Too many services and a long name do not disturb other adverts")
    func tooMuch() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let listener = try bench.station("@1,0"), sender = try bench.station("@0,0")
        listener.listen(true, at: bench.now)
        let device = OutgoingAdvert(
            frame: nil, localName: String(repeating: "long", count: 500),
            services: (0..<50).map { ServiceUUID(high: $0, low: 1) })
        try sender.send([OutgoingAdvert(Self.frame()), device], at: bench.now)
        listener.update(at: bench.now)
        #expect(try bench.hear(listener, 1).contains { $0.frame == Self.frame() })
    }

    @Test("A listener does not hear itself, other airs, or earlier adverts")
    func isolation() throws {
        let bench = try Bench()
        let air = try bench.calm(":two")
        defer { withExtendedLifetime(air) {} }
        let own = try bench.station(":one@0,0"), other = try bench.station(":two@0,0")
        own.listen(true, at: bench.now)
        try own.send([OutgoingAdvert(Self.frame())], at: bench.now)
        try other.send([OutgoingAdvert(Self.frame(2))], at: bench.now)
        #expect(try bench.hear(own, 3, also: [other]).isEmpty)
        let late = try bench.station(":two@1,0")
        #expect(try bench.hear(late, 3).isEmpty)
        late.listen(true, at: bench.now)
        let begin = bench.now
        let heard = try bench.hear(late, 3)
        #expect(!heard.isEmpty && heard.allSatisfy { $0.time >= begin })
    }

    @Test("A listener that joins a day later hears the sender without calculating the whole day")
    func lateListener() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let sender = try bench.station("@1,0")
        try sender.send([OutgoingAdvert(Self.frame())], at: bench.now)
        bench.now += 86_400_000_000_000
        let listener = try bench.station()
        listener.listen(true, at: bench.now)
        let heard = try bench.hear(listener, 10)
        #expect(80...100 ~= heard.count)
        // Its address has changed since.
        #expect(heard.first?.address.kind == .random)
    }

    @Test("A moved member is heard from its new position, at once or on its way")
    func moves() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let listener = try bench.station("@0,0"), sender = try bench.station("@20,0")
        listener.listen(true, at: bench.now)
        try sender.send([OutgoingAdvert(Self.frame())], at: bench.now)
        listener.update(at: bench.now)
        let mean = { (adverts: [Advert]) in Double(adverts.reduce(0) { $0 + $1.rssi }) / Double(max(1, adverts.count)) }
        let before = mean(try bench.hear(listener, 5))
        try sender.move(to: Point(x: 1, y: 0), at: bench.now)
        listener.update(at: bench.now)
        let after = mean(try bench.hear(listener, 5))
        #expect(before == -82 && after == -59)
        // A third member lets it walk away at 10 m/s.
        let third = AirStation(lookingAt: try bench.folder(), at: bench.now)
        try third.move(sender.id, to: Point(x: 101, y: 0), speed: 10, at: bench.now)
        listener.update(at: bench.now)
        _ = try bench.hear(listener, 5)
        let half = try #require(listener.members(at: bench.now).first { $0.id == sender.id }?.place)
        #expect(abs(half.x - 51) < 0.01)
        _ = try bench.hear(listener, 6, also: [sender])
        #expect(listener.members(at: bench.now).first { $0.id == sender.id }?.place?.x == 101)
        #expect(throws: RadioError.self) { try third.move("nobody-1", to: .zero, speed: nil, at: bench.now) }
    }

    @Test("All members hear a scenario in the air, with its walls, until its end")
    func plan() throws {
        let bench = try Bench()
        let json = """
            {"duration": 20, "seed": 3,
             "environment": {"shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": null, "loss": 0,
                             "sensitivity": -120},
             "walls": [{"from": [5, -50], "to": [5, 50], "loss": 20}], "receivers": [{"position": [0, 0]}],
             "beacons": [{"uuid": "\(Self.uuid)", "major": 1, "minor": 7, "position": [10, 0]}]}
            """
        let inside = try bench.station("@7,0"), outside = try bench.station("@3,0")
        inside.listen(true, at: bench.now)
        outside.listen(true, at: bench.now)
        let player = try bench.station("", "museum")
        try player.play(scenario: Array(json.utf8), at: bench.now)
        for station in [inside, outside] { station.update(at: bench.now) }
        let loud = try bench.hear(inside, 5)
        bench.now -= 5_000_000_000
        let quiet = try bench.hear(outside, 5)
        // 3 m and 7 m at 17.5 dB per decade, and the wall in between.
        #expect(Set(loud.map(\.rssi)) == [-67] && Set(quiet.map(\.rssi)) == [-94])
        _ = try bench.hear(inside, 15)
        #expect(try bench.hear(inside, 3).isEmpty)
    }

    @Test("Adverts during a stop of the process are counted as missed, and never heard late")
    func stopped() throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let listener = try bench.station(), sender = try bench.station("@1,0")
        listener.listen(true, at: bench.now)
        try sender.send([OutgoingAdvert(Self.frame())], at: bench.now)
        listener.update(at: bench.now)
        _ = try bench.hear(listener, 1)
        bench.now += 10_000_000_000
        let begin = bench.now
        let heard = try bench.hear(listener, 1)
        #expect(!heard.isEmpty && heard.allSatisfy { $0.time > begin })
        #expect(90...110 ~= listener.missed)
    }

    @Test(
        "After a stop, a listener hears new members, and none that ended", arguments: [3.1, 10, 100_000])
    func endedMeanwhile(seconds: Double) throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let listener = try bench.station()
        var sender: AirStation? = try bench.station("@1,0")
        listener.listen(true, at: bench.now)
        try sender?.send([OutgoingAdvert(Self.frame(1))], at: bench.now)
        listener.update(at: bench.now)
        #expect(try Set(bench.hear(listener, 1).map(\.frame)) == [Self.frame(1)])
        sender = nil
        let other = try bench.station("@2,0")
        try other.send([OutgoingAdvert(Self.frame(2))], at: bench.now)
        bench.now += Int64(seconds * 1_000_000_000)
        #expect(try Set(bench.hear(listener, 2).map(\.frame)) == [Self.frame(2)])
    }

    @Test("A member leaves the air when its process ends in any way, and others remove its files")
    func end() throws {
        let bench = try Bench()
        let listener = try bench.station()
        listener.listen(true, at: bench.now)
        // A killed process: its files exist, and no process holds the lock.
        let folder = try bench.folder()
        let left = AirPart.device(
            program: "killed", process: 1, since: bench.now, isListening: false, seed: 1,
            adverts: [OutgoingAdvert(Self.frame())])
        try folder.write(Array(left.utf8), to: "killed-1", .json)
        try folder.write(Array(AirWalk(since: 0, start: .zero).json.utf8), to: "killed-1", .walk)
        _ = FileManager.default.createFile(atPath: folder.file("killed-1", .lock), contents: nil)
        #expect(try bench.hear(listener, 3).isEmpty)
        #expect(folder.ids() == [listener.id])
        for _ in 0..<100 {
            let guest = try bench.station("@1,1")
            guest.listen(true, at: bench.now)
            #expect(guest.members(at: bench.now).map(\.id) == [listener.id])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
    }

    @Test("Invalid files in the folder are not members", arguments: ["", "{", "[]", #"{"format": 9}"#])
    func damage(content: String) throws {
        let bench = try Bench()
        let air = try bench.calm()
        defer { withExtendedLifetime(air) {} }
        let sender = try bench.station("@1,0"), listener = try bench.station()
        listener.listen(true, at: bench.now)
        try bench.folder().write(Array(content.utf8), to: sender.id, .json)
        #expect(try bench.hear(listener, 3).isEmpty)
        try sender.send([OutgoingAdvert(Self.frame())], at: bench.now)
        try bench.folder().write(Array(content.utf8), to: sender.id, .walk)
        listener.update(at: bench.now)
        #expect(try !bench.hear(listener, 3).isEmpty)
    }

    @Test("Members of one program have different ids, whatever its name")
    func ids() throws {
        let bench = try Bench()
        let first = try bench.station("", "my app/\"1\""), second = try bench.station("", "my app/\"1\"")
        #expect(first.id != second.id)
        #expect(try bench.folder().ids().count == 2)
        #expect(first.id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    }

    @Test("A folder that is not private to the user is refused")
    func foreignFolder() throws {
        let bench = try Bench()
        _ = try bench.folder()
        #expect(chmod(bench.runtime + "/swift-beacon/air/default", 0o777) == 0)
        #expect(throws: RadioError.self) { try bench.folder() }
        let target = bench.runtime + "/elsewhere"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bench.runtime + "/swift-beacon/air/link", withDestinationPath: target)
        #expect(throws: RadioError.self) { try bench.folder("link") }
        #expect(throws: RadioError.self) { try AirFolder(name: "default", runtime: "/proc") }
    }

    @Test(
        "Valid places are read",
        arguments: [
            ("", "default", Point.zero), (":hall", "hall", .zero), ("@2,0", "default", Point(x: 2, y: 0)),
            (":hall@-2.5,3,4", "hall", Point(x: -2.5, y: 3, z: 4)),
        ])
    func places(text: String, name: String, point: Point) throws {
        let location = try AirLocation(text)
        #expect(location.name == name && location.point == point)
    }

    @Test(
        "Invalid places are refused",
        arguments: [":", ":a/b", ":..", "x", "@", "@1", "@1,2,3,4", "@a,b", "@1,nan", "@1e9,0"])
    func noPlaces(text: String) { #expect(throws: RadioError.self) { try AirLocation(text) } }
}

import BeaconModel
import BeaconRadio
import BeaconSimulation
import LabAir
import Testing
import VirtualController

/// Controllers, scenarios and floods in one air.
struct LaboratoryTests {
    private static let scenario = """
        { "name": "one", "duration": 2, "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
          "environment": { "pathLossExponent": 2, "shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": null, "loss": 0 },
          "receivers": [ { "position": [0, 0] }, { "position": [0, 10] } ],
          "beacons": [ { "major": 1, "minor": 2, "position": [0, 0], "interval": 0.5, "jitter": 0, "on": [[0, 1.8]] } ] }
        """

    private func laboratory() -> Laboratory {
        let configurations = (0..<2).map {
            ControllerConfiguration(address: DeviceAddress(bits: 0x02BE_0000_0000 | UInt64($0), kind: .public))
        }
        var laboratory = Laboratory(controllers: configurations) { _ in try Scenario(json: Array(Self.scenario.utf8)) }
        for index in 0..<2 {
            for mask in [0x01, 0x0C] as [UInt8] {
                let code: [UInt8] = mask == 0x01 ? [0x01, 0x20] : [0x01, 0x0C]
                laboratory.receive([0x01] + code + [8] + [UInt8](repeating: 0xFF, count: 8), controller: index, at: 0)
            }
            laboratory.receive([0x01, 0x0C, 0x20, 2, 1, 0], controller: index, at: 0)
            laboratory.removeOutput(laboratory.controllers[index].output.count, of: index)
        }
        return laboratory
    }

    /// Removes and returns a controller's legacy reports: signal strength and advert.
    private func reports(_ laboratory: inout Laboratory, of index: Int) -> [(rssi: Int8, advert: [UInt8])] {
        var rest = laboratory.controllers[index].output[...]
        laboratory.removeOutput(rest.count, of: index)
        var reports: [(Int8, [UInt8])] = []
        while rest.popFirst() == 0x04 {
            let count = 2 + Int(rest[rest.startIndex + 1])
            let event = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if event[0] == 0x3E { reports.append((Int8(bitPattern: event[count - 1]), Array(event[13..<count - 1]))) }
        }
        return reports
    }

    /// Advances time from deadline to deadline, and calls `look` after each step.
    private func play(_ laboratory: inout Laboratory, until end: Int64, _ look: (inout Laboratory, Int64) -> Void) {
        while let time = laboratory.deadline, time <= end {
            laboratory.advance(to: time)
            look(&laboratory, time)
        }
    }

    @Test func eachControllerHearsItsReceiversAdvertsOnTime() throws {
        var laboratory = laboratory()
        let start: Int64 = 5_000_000_000
        #expect(laboratory.obey("start one", at: start) == "ok")

        var expected: [Int: [(Int64, Int8)]] = [0: [], 1: []]
        var air = ScenarioSource(try Scenario(json: Array(Self.scenario.utf8)))
        while try air.next({ reception, _ in
            let time = start + (reception.time?.since(ScenarioSource.start) ?? 0)
            expected[Int(reception.receiver.index), default: []].append((time, reception.report.rssi.rawValue))
        }) != nil {}
        #expect(expected[0]?.count ?? 0 >= 3)

        var heard: [Int: [(Int64, Int8)]] = [0: [], 1: []]
        play(&laboratory, until: start + 10_000_000_000) { laboratory, time in
            for index in 0..<2 {
                heard[index, default: []] += reports(&laboratory, of: index).map { (time, $0.rssi) }
            }
        }
        for index in 0..<2 {
            #expect(heard[index]?.map(\.0) == expected[index]?.map(\.0))
            #expect(heard[index]?.map(\.1) == expected[index]?.map(\.1))
        }
    }

    @Test func controllersHearEachOtherButNotThemselves() {
        var laboratory = laboratory()
        laboratory.receive([0x01, 0x0A, 0x20, 1, 1], controller: 1, at: 0)
        _ = reports(&laboratory, of: 1)
        laboratory.advance(to: 0)
        #expect(reports(&laboratory, of: 0).map(\.rssi) == [-55])
        #expect(reports(&laboratory, of: 1).isEmpty)
    }

    @Test func aFloodIsNumberedWithoutGaps() {
        var laboratory = laboratory()
        #expect(laboratory.obey("flood 1000 500 2", at: 0) == "ok")
        var numbers: [Int] = []
        var foreign = 0
        play(&laboratory, until: 10_000_000_000) { laboratory, _ in
            _ = reports(&laboratory, of: 1)
            for report in reports(&laboratory, of: 0) {
                let frame = IBeaconFrame(advert: report.advert.span.bytes)
                if let frame, frame.identity.uuid.high == 0xF100_DF10_0DF1_400D {
                    numbers.append(Int(frame.identity.major) << 16 | Int(frame.identity.minor))
                } else {
                    foreign += 1
                }
            }
        }
        #expect(numbers == Array(0..<numbers.count))
        #expect(990...1000 ~= numbers.count)
        #expect(1980...2000 ~= foreign)
        #expect(
            laboratory.obey("flooded", at: 10_000_000_000) == "ok foreign=\(foreign) beacons=\(numbers.count) over=1")
    }

    @Test func aFloodWaitsForASlowHost() {
        var laboratory = laboratory()
        _ = laboratory.obey("flood 0 50000 5", at: 0)
        play(&laboratory, until: 10_000_000_000) { _, _ in }
        #expect(laboratory.controllers.allSatisfy { $0.counters.overruns == 0 })
        #expect(laboratory.controllers.allSatisfy { $0.output.count < 17 * 1024 })
    }

    @Test func anInvalidCommandReturnsAnError() {
        var laboratory = laboratory()
        #expect(laboratory.obey("silent 7", at: 0) == "error controller is 7; write a number from 0 to 1")
        #expect(laboratory.obey("sing", at: 0) == "error \"sing\" is not a command of the air")
        #expect(laboratory.obey("", at: 0) == "error missing command")
        #expect(laboratory.obey("stop now", at: 0) == "error \"now\" is unexpected")
    }

    @Test func theStateDescribesAController() {
        var laboratory = laboratory()
        #expect(laboratory.obey("state 0", at: 0).hasPrefix("ok scanning=1 active=0 filter=0 advertising=0 commands=3"))
        #expect(laboratory.obey("power-cycle 0", at: 0) == "ok")
        #expect(laboratory.obey("state 0", at: 0).hasPrefix("ok scanning=0 "))
    }
}

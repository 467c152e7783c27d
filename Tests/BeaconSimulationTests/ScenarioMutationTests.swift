import BeaconSimulation
import BeaconSupport
import Testing

@Suite("Damaged scenarios")
struct ScenarioMutationTests {
    private static let base = #"""
        {"name": "x", "duration": 2, "seed": 3, \#(uuidLine), "environment": {"shadowing": 3, "ricianK": null},
         "walls": [{"from": [0, 0], "to": [1, 1], "loss": 3}],
         "people": [{"name": "ann", "repeat": true, "walk": [[0, 0], {"to": [1, 0], "pause": 1}, {"to": [2, 2], "arrive": 9}]}],
         "receivers": [{"name": "hci0", "carriedBy": "ann", "gain": 1}],
         "beacons": [{"major": 1, "interval": 0.5, "jitter": 0.01, "position": [1, 2], "on": [[0, 1], [1.5, null]]},
                     {"minor": 65535, "measuredPower": -59, "rotation": 1, "carriedBy": "ann"}],
         "crowds": [{"count": 2, "area": [[0, 0], [3, 3]], "speed": 1, "rotation": 2}]}
        """#

    /// Values at the limits of numbers, texts and JSON.
    private static let values = [
        "0", "-0", "-1", "1e308", "-1e308", "1e-320", "9223372036854775807", "18446744073709551616", "65536", "0.5",
        "null", "true", "\"\"", "\"\\ud800\"", "\"ann\"", "[]", "{}", "[0,0]", "[[0,0],[0,0]]", "[null]", "127", "-129",
    ]

    @Test("Any bytes give an error or a scenario that plays", arguments: 0..<8)
    func bytes(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let base = Array(Self.base.utf8)
        for _ in 0..<250 {
            var json = base
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<json.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: json[place] = UInt8.random(in: 0...255, using: &random)
                case 1: json.remove(at: place)
                case 2: json.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: place)
                default: json.removeSubrange(place..<min(json.count, place + Int.random(in: 1..<40, using: &random)))
                }
            }
            try play(json)
        }
    }

    @Test("Any values give an error or a scenario that plays", arguments: 0..<8)
    func values(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed + 100))
        var played = 0
        for _ in 0..<250 {
            // Each number of the text may be replaced.
            var json = ""
            var number = ""
            for character in Self.base + " " {
                if character.isNumber || character == "." || character == "-" && !number.isEmpty {
                    number.append(character)
                    continue
                }
                if !number.isEmpty {
                    let isChanged = Int.random(in: 0..<25, using: &random) == 0
                    json += isChanged ? Self.values.randomElement(using: &random) ?? number : number
                    number = ""
                }
                json.append(character)
            }
            if try play(Array(json.utf8)) { played += 1 }
        }
        #expect(played > 10)
    }

    /// Plays a scenario for some steps if it is valid.
    @discardableResult
    private func play(_ json: [UInt8]) throws -> Bool {
        let scenario: Scenario
        do {
            scenario = try Scenario(json: json)
        } catch let error as ScenarioError {
            #expect(!error.message.isEmpty)
            return false
        }
        var air = ScenarioSource(scenario)
        var steps = 0
        while steps < 200, try air.next({ _, _ in }) != nil { steps += 1 }
        #expect(steps > 0)
        return true
    }
}

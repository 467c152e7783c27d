import BeaconSimulation
import Testing

@Suite("Errors in a scenario name their place")
struct ScenarioErrorTests {
    /// An invalid scenario, with its error's code and path.
    struct InvalidScenario: Sendable, CustomTestStringConvertible {
        var json: String
        var code: ScenarioError.Code
        var path: String

        var testDescription: String { "\(code) \(path)" }

        init(_ json: String, _ code: ScenarioError.Code, _ path: String) {
            self.json = json
            self.code = code
            self.path = path
        }

        /// A faulty member of an otherwise valid scenario.
        static func top(_ member: String, _ code: ScenarioError.Code, _ path: String) -> InvalidScenario {
            InvalidScenario(
                #"{"duration": 10, \#(uuidLine), "receivers": [{"position": [0, 0]}], \#(member)}"#, code, path)
        }

        static func beacon(_ members: String, _ code: ScenarioError.Code, _ key: String) -> InvalidScenario {
            top(
                #""people": [{"name": "ann", "walk": [[0, 0]]}], "beacons": [{"position": [0, 0]}, {\#(members)}]"#,
                code, "beacons[1].\(key)")
        }

        static func person(_ members: String, _ code: ScenarioError.Code, _ key: String) -> InvalidScenario {
            top(#""people": [{\#(members)}]"#, code, "people[0].\(key)")
        }

        static func environment(_ members: String, _ code: ScenarioError.Code, _ key: String) -> InvalidScenario {
            top(#""environment": {\#(members)}"#, code, "environment.\(key)")
        }
    }

    static let invalidScenarios: [InvalidScenario] = [
        InvalidScenario("", .malformed, ""),
        InvalidScenario("{", .malformed, ""),
        InvalidScenario("{\"duration\": 1e999}", .malformed, ""),
        InvalidScenario(String(repeating: "[", count: 100_000), .malformed, ""),
        InvalidScenario("[]", .wrongType, ""),
        InvalidScenario("{}", .missingKey, "duration"),
        InvalidScenario(#"{"duration": 10}"#, .missingKey, "receivers"),
        InvalidScenario(#"{"duration": 10, "receivers": []}"#, .invalidValue, "receivers"),
        InvalidScenario(#"{"duration": 0, "receivers": []}"#, .outOfRange, "duration"),
        InvalidScenario(#"{"duration": 1e9, "receivers": []}"#, .outOfRange, "duration"),
        InvalidScenario(#"{"duration": "10", "receivers": []}"#, .wrongType, "duration"),
        InvalidScenario(#"{"duration": true, "receivers": []}"#, .wrongType, "duration"),
        .top(#""beacon": []"#, .unknownKey, "beacon"),
        .top(#""name": """#, .invalidValue, "name"),
        .top(#""name": "a\nb""#, .invalidValue, "name"),
        .top(#""description": "\#(String(repeating: "x", count: 1001))""#, .tooLarge, "description"),
        .top(#""seed": -1"#, .outOfRange, "seed"),
        .top(#""seed": 1.5"#, .outOfRange, "seed"),
        .top(#""environment": []"#, .wrongType, "environment"),
        .environment(#""pathLoss": 2"#, .unknownKey, "pathLoss"),
        .environment(#""pathLossExponent": 0.5"#, .outOfRange, "pathLossExponent"),
        .environment(#""shadowing": -1"#, .outOfRange, "shadowing"),
        .environment(#""shadowingDistance": 0"#, .outOfRange, "shadowingDistance"),
        .environment(#""shadowingTime": 0"#, .outOfRange, "shadowingTime"),
        .environment(#""channelFading": 21"#, .outOfRange, "channelFading"),
        .environment(#""drift": -1"#, .outOfRange, "drift"),
        .environment(#""driftTime": 0"#, .outOfRange, "driftTime"),
        .environment(#""ricianK": 100"#, .outOfRange, "ricianK"),
        .environment(#""loss": 1.1"#, .outOfRange, "loss"),
        .environment(#""loss": null"#, .wrongType, "loss"),
        .environment(#""lossSpread": 6"#, .outOfRange, "lossSpread"),
        .environment(#""lossTime": 0"#, .outOfRange, "lossTime"),
        .environment(#""sensitivity": -128"#, .outOfRange, "sensitivity"),
        .top(#""walls": {}"#, .wrongType, "walls"),
        .top(#""walls": [{"from": [0, 0]}]"#, .missingKey, "walls[0].to"),
        .top(#""walls": [{"from": [0], "to": [1, 1]}]"#, .invalidValue, "walls[0].from"),
        .top(#""walls": [{"from": [0, "1"], "to": [1, 1]}]"#, .wrongType, "walls[0].from[1]"),
        .top(#""walls": [{"from": [0, 1e7], "to": [1, 1]}]"#, .outOfRange, "walls[0].from[1]"),
        .top(#""walls": [{"from": [1, 1], "to": [1, 1]}]"#, .invalidValue, "walls[0]"),
        .top(#""walls": [{"from": [1, 1], "to": [1, 2], "loss": -3}]"#, .outOfRange, "walls[0].loss"),
        .top(#""walls": [{"from": [1, 1], "to": [1, 2], "los": 3}]"#, .unknownKey, "walls[0].los"),
        .person(#""walk": [[0, 0]]"#, .missingKey, "name"),
        .person(#""name": "ann""#, .missingKey, "walk"),
        .person(#""name": "ann", "walk": []"#, .invalidValue, "walk"),
        .person(#""name": "ann", "walk": [1]"#, .wrongType, "walk[0]"),
        .person(#""name": "ann", "walk": [[0, 0], {"pause": 3}]"#, .missingKey, "walk[1].to"),
        .person(#""name": "ann", "walk": [[0, 0], {"to": [1, 1], "wait": 3}]"#, .unknownKey, "walk[1].wait"),
        .person(#""name": "ann", "walk": [[0, 0], {"to": [1, 1], "speed": 0}]"#, .outOfRange, "walk[1].speed"),
        .person(#""name": "ann", "walk": [{"to": [1, 1], "speed": 1}]"#, .conflict, "walk[0].speed"),
        .person(#""name": "ann", "walk": [{"to": [1, 1], "arrive": 1}]"#, .conflict, "walk[0].arrive"),
        .person(
            #""name": "ann", "walk": [[0, 0], {"to": [1, 1], "speed": 1, "arrive": 3}]"#, .conflict, "walk[1].speed"),
        .person(
            #""name": "ann", "walk": [{"to": [0, 0], "pause": 5}, {"to": [1, 1], "arrive": 5}]"#, .outOfRange,
            "walk[1].arrive"),
        .person(#""name": "ann", "walk": [[0, 0]], "speed": 1000"#, .outOfRange, "speed"),
        .person(#""name": "ann", "walk": [[0, 0]], "repeat": 1"#, .wrongType, "repeat"),
        .person(#""name": "ann", "walk": [[0, 0]], "bodyLoss": -1"#, .outOfRange, "bodyLoss"),
        .person(#""name": "ann", "walk": [[0, 0]], "body": 1"#, .unknownKey, "body"),
        .top(
            #""people": [{"name": "ann", "walk": [[0, 0]]}, {"name": "ann", "walk": [[0, 0]]}]"#, .duplicateName,
            "people[1].name"),
        InvalidScenario(#"{"duration": 1, "receivers": [{}]}"#, .missingKey, "receivers[0].position"),
        InvalidScenario(
            #"{"duration": 1, "receivers": [{"carriedBy": "bob"}]}"#, .unknownReference, "receivers[0].carriedBy"),
        InvalidScenario(
            #"{"duration": 1, "receivers": [{"position": [0, 0], "gain": 99}]}"#, .outOfRange, "receivers[0].gain"),
        InvalidScenario(
            #"{"duration": 1, "receivers": [{"position": [0, 0], "at": 9}]}"#, .unknownKey, "receivers[0].at"),
        InvalidScenario(
            #"{"duration": 1, "receivers": [{"name": "a", "position": [0, 0]}, {"name": "a", "position": [0, 0]}]}"#,
            .duplicateName, "receivers[1].name"),
        InvalidScenario(
            #"{"duration": 1, "receivers": [{"position": [0, 0]}], "beacons": [{"position": [0, 0]}]}"#, .missingKey,
            "beacons[0].uuid"),
        .beacon(#""minor": 1"#, .missingKey, "position"),
        .beacon(#""position": [0, 0], "carriedBy": "ann""#, .conflict, "carriedBy"),
        .beacon(#""carriedBy": "bob""#, .unknownReference, "carriedBy"),
        .beacon(#""position": [0, 0], "uuid": "E2C56DB5""#, .invalidValue, "uuid"),
        .beacon(#""position": [0, 0], "major": 65536"#, .outOfRange, "major"),
        .beacon(#""position": [0, 0], "minor": -1"#, .outOfRange, "minor"),
        .beacon(#""position": [0, 0], "minor": 1.5"#, .outOfRange, "minor"),
        .beacon(#""position": [0, 0], "measuredPower": 127"#, .outOfRange, "measuredPower"),
        .beacon(#""position": [0, 0], "measuredPower": -129"#, .outOfRange, "measuredPower"),
        .beacon(#""position": [0, 0], "powerOffset": "x""#, .wrongType, "powerOffset"),
        .beacon(#""position": [0, 0], "interval": 0.019"#, .outOfRange, "interval"),
        .beacon(#""position": [0, 0], "interval": 10.25"#, .outOfRange, "interval"),
        .beacon(#""position": [0, 0], "jitter": -0.1"#, .outOfRange, "jitter"),
        .beacon(#""position": [0, 0], "rotation": 0"#, .outOfRange, "rotation"),
        .beacon(#""position": [0, 0], "rotation": 9, "address": "c0:00:5e:12:34:56""#, .conflict, "address"),
        .beacon(#""position": [0, 0], "addressKind": "public""#, .conflict, "addressKind"),
        .beacon(#""position": [0, 0], "address": "c0:00:5e:12:34""#, .invalidValue, "address"),
        .beacon(
            #""position": [0, 0], "address": "c0:00:5e:12:34:56", "addressKind": "static""#, .invalidValue,
            "addressKind"),
        .beacon(#""position": [0, 0], "on": []"#, .invalidValue, "on"),
        .beacon(#""position": [0, 0], "on": [5]"#, .wrongType, "on[0]"),
        .beacon(#""position": [0, 0], "on": [[5]]"#, .invalidValue, "on[0]"),
        .beacon(#""position": [0, 0], "on": [[5, 5]]"#, .invalidValue, "on[0]"),
        .beacon(#""position": [0, 0], "on": [[5, 9], [8, 12]]"#, .invalidValue, "on[1]"),
        .beacon(#""position": [0, 0], "on": [[5, null], [8, 12]]"#, .invalidValue, "on[1]"),
        .beacon(#""position": [0, 0], "on": [[-5, 5]]"#, .outOfRange, "on[0][0]"),
        .beacon(#""position": [0, 0], "intervall": 1"#, .unknownKey, "intervall"),
        .top(
            #""beacons": [{"name": "a", "position": [0, 0]}, {"name": "a", "position": [0, 0]}]"#, .duplicateName,
            "beacons[1].name"),
        .top(#""crowds": [{"area": [[0, 0], [1, 1]]}]"#, .missingKey, "crowds[0].count"),
        .top(#""crowds": [{"count": 1}]"#, .missingKey, "crowds[0].area"),
        .top(#""crowds": [{"count": 1, "area": [[0, 0]]}]"#, .invalidValue, "crowds[0].area"),
        .top(#""crowds": [{"count": 10001, "area": [[0, 0], [1, 1]]}]"#, .outOfRange, "crowds[0].count"),
        .top(#""crowds": [{"count": 1, "area": [[0, 0], [1, 1]], "size": 1}]"#, .unknownKey, "crowds[0].size"),
        .top(
            #""crowds": [{"count": 9000, "area": [[0, 0], [1, 1]]}, {"count": 9000, "area": [[0, 0], [1, 1]]}]"#,
            .tooLarge, "crowds"),
    ]

    @Test("Each kind of error has its code and path", arguments: invalidScenarios)
    func errors(_ scenario: InvalidScenario) throws {
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: Array(scenario.json.utf8)) }
        #expect(error.code == scenario.code)
        #expect(error.path == scenario.path)
        // The cause before the semicolon, the remedy after it.
        #expect(error.message.contains(";"))
        #expect("\(error)".hasPrefix(scenario.path.isEmpty ? "The scenario " : scenario.path))
    }

    @Test("The error for a number out of range includes the range and its unit")
    func range() throws {
        let json =
            #"{"duration": 10, "receivers": [{"position": [0, 0]}], "crowds": [{"count": 1, "area": [[0, 0], [1, 1]], "interval": 30}]}"#
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: Array(json.utf8)) }
        #expect("\(error)" == "crowds[0].interval is 30; write a number from 0.02 to 10.24 seconds")
    }

    @Test("The error for an unknown key lists the known keys")
    func knownKeys() throws {
        let json = #"{"duration": 10, "receivers": [{"position": [0, 0], "zain": 1, "gian": 1}]}"#
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: Array(json.utf8)) }
        #expect(
            "\(error)"
                == "receivers[0].gian is not a key of the format; the keys here are name, position, carriedBy, gain")
    }

    @Test(
        "Syntax errors include line and column",
        arguments: [
            ("{\"duration\": 10,, }", "line 1, column 17, a key is missing"),
            ("{\n  \"name\": \"Käse\" \"x\"", "line 2, column 18, a comma or a closing brace is missing"),
            ("{\n\n \"name\": 5, \"name\": 6}", "line 3, column 13, the key \"name\" occurs twice"),
            ("{\"a\" 1}", "line 1, column 6, the colon after the key is missing"),
            ("[1, 2", "line 1, column 6, a comma or a closing bracket is missing"),
            ("[1, ]", "line 1, column 5, a value is missing"),
            ("[01]", "line 1, column 2, the number is not valid"),
            ("[1.]", "line 1, column 2, the number is not valid"),
            ("[.5]", "line 1, column 2, a value is missing"),
            ("[-]", "line 1, column 2, the number is not valid"),
            ("[1e]", "line 1, column 2, the number is not valid"),
            ("[nul]", "line 1, column 2, a value is missing"),
            ("[\"a", "line 1, column 2, a text has no closing quotation mark"),
            ("[\"a\nb\"]", "line 1, column 4, a text contains a line break"),
            ("[\"\\x\"]", "line 1, column 3, a backslash begins no known escape"),
            ("[\"\\u12g4\"]", "line 1, column 3, \\u is not followed by four"),
            ("[\"\\ud83d\"]", "line 1, column 9, an escape is only half a character"),
            ("[\"\\udc00\"]", "line 1, column 9, an escape is only half a character"),
            ("{} {}", "line 1, column 4, there is text after the end"),
            (String(repeating: "[", count: 100_000), "line 1, column 33, lists and objects are nested deeper"),
        ])
    func syntax(json: String, message: String) throws {
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: Array(json.utf8)) }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("is not JSON: in \(message)"), "\(error.message)")
    }

    @Test("Bytes that are not UTF-8 have an error")
    func encoding() throws {
        let json = Array(#"{"name": ""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        let error = try #require(throws: ScenarioError.self) { try Scenario(json: json) }
        #expect(error.message.contains("column 10, a text is not UTF-8"))
    }

    @Test("Texts may contain everything that JSON permits")
    func texts() throws {
        let json = ##"""
            {"duration": 1E+1, "receivers": [{"position": [-0.5e-1, 0]}],
             "name": "\"\\\/ é\u00e9\uD83D\uDE00", "description": "a\n\tb\r\b\f"}
            """##
        let scenario = try Scenario(json: [0xEF, 0xBB, 0xBF] + Array(json.utf8))
        #expect(scenario.name == "\"\\/ éé\u{1F600}")
        #expect(scenario.summary == "a\n\tb\r\u{8}\u{C}")
        #expect(scenario.duration == 10)
    }

    @Test("The error for an unknown scenario lists the shipped ones")
    func unknownScenario() throws {
        let error = try #require(throws: ScenarioError.self) { try Scenario(named: "musuem") }
        #expect(error.code == .unknownScenario)
        #expect(error.message.contains("museum"))
    }
}

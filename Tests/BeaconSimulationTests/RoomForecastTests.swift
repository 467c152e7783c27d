import BeaconSimulation
import Testing

@Suite("A plan predicts how well rooms are recognized")
struct RoomForecastTests {
    /// Three rooms in a row, 4 by 4 meters each, with doors between them. The last one has no receiver.
    static let flat = """
        {"duration": 1, "walls": [],
         "rooms": [
            {"name": "hall", "polygon": [[0, 0], [4, 0], [4, 4], [0, 4]]},
            {"name": "kitchen", "polygon": [[4, 0], [8, 0], [8, 4], [4, 4]]},
            {"name": "bath", "polygon": [[8, 0], [12, 0], [12, 4], [8, 4]]}],
         "doors": [[4, 2], [8, 2]],
         "receivers": [{"name": "R1", "position": [1, 1, 1]}, {"name": "R2", "position": [5, 1, 1]}]}
        """

    static func survey(_ json: String = flat, replacing: String = "", with other: String = "") throws -> RoomSurvey {
        let parts = replacing.isEmpty ? [json[...]] : json.split(separator: replacing, omittingEmptySubsequences: false)
        let changed = parts.joined(separator: other)
        return try RoomSurvey(Scenario(json: Array(changed.utf8)))
    }

    static func report(_ survey: RoomSurvey, trying x: Double? = nil) throws -> RoomReport {
        let tried = x.map { RoomSurvey.Receiver(name: "one more", position: Point(x: $0, y: 1, z: 1)) }
        return try #require(try RoomReport.make(survey, seeds: 6, trying: tried))
    }

    @Test("Rooms with receivers are right, and a room without one is uncovered")
    func coverage() throws {
        let forecast = try Self.report(Self.survey()).forecast
        #expect(forecast.rooms == ["hall", "kitchen", "bath"])
        #expect(forecast.uncovered == ["bath"])
        #expect(forecast.confusion[0][0].mean > 0.8)
        #expect(forecast.confusion[1][1].mean > 0.8)
        #expect(forecast.mostlyReported(in: "bath")?.reported == "kitchen")
        for row in forecast.confusion { #expect(abs(row.reduce(0) { $0 + $1.mean } - 1) < 0.001) }
        #expect(try Self.report(Self.survey()).forecast == forecast)
    }

    @Test("A receiver in an uncovered room makes a difference; a second one in a covered room makes none")
    func oneMore() throws {
        let report = try Self.report(Self.survey(), trying: 11)
        let change = try #require(report.change)
        #expect(report.tried == "bath")
        #expect(change.isDifferent)
        #expect(change.mean > 0.2)
        #expect(change.rooms.map(\.room).contains("bath"))
        #expect(change.forecast.uncovered.isEmpty)
        #expect(try Self.report(Self.survey(), trying: 1.5).change?.isDifferent == false)
    }

    @Test("Without walls between them, a door is doubtful")
    func doubt() throws {
        let near = Self.flat.split(separator: "[1, 1, 1]").joined(separator: "[3.5, 2, 1]")
            .split(separator: #""doors": [[4, 2], [8, 2]],"#).joined()
        let open = try Self.report(Self.survey(near)).forecast
        #expect(!open.doubtful.isEmpty)
        #expect(open.doubtful.allSatisfy { $0.share >= 0.15 && !open.uncovered.contains($0.room) })
    }

    /// A change of the flat, and the error's place and a part of its sentence.
    static let mistakes: [(String, String, String, String)] = [
        ("[1, 1, 1]", "[-2, 1, 1]", "receivers[0]", "in no room"),
        (#""position": [1, 1, 1]"#, #""carriedBy": "ann""#, "receivers[0]", "carried"),
        ("[[4, 0], [8, 0], [8, 4], [4, 4]]", "[[3, 0], [8, 0], [8, 4], [3, 4]]", "rooms[1]", "overlaps \"hall\""),
        (#""doors": [[4, 2], [8, 2]]"#, #""doors": [[4, 2]]"#, "rooms[2]", "no way in"),
        (#""doors": [[4, 2], [8, 2]]"#, #""doors": [[4, 2], [6, 2]]"#, "doors[1]", "walls"),
        ("[[8, 0], [12, 0], [12, 4], [8, 4]]", "[[8, 0], [12, 0], [12, 0.3], [8, 0.3]]", "rooms[2]", "no spot"),
        ("[[8, 0], [12, 0], [12, 4], [8, 4]]", "[[8, 0], [12, 4], [12, 0], [8, 4]]", "rooms[2]", "cross"),
        ("[[8, 0], [12, 0], [12, 4], [8, 4]]", "[[8, 0], [12, 0]]", "rooms[2]", "corners"),
        ("[[8, 0], [12, 0], [12, 4], [8, 4]]", "[[8, 0], [900, 0], [900, 900], [8, 4]]", "rooms", "square meters"),
        (#""kitchen""#, #""hall""#, "rooms[1]", "name of another room"),
    ]

    @Test("A mistake has a place and a remedy", arguments: mistakes)
    func mistake(text: String, other: String, path: String, sentence: String) throws {
        let people = #""walls": [], "people": [{"name": "ann", "walk": [[0, 0]]}],"#
        let flat = Self.flat.split(separator: #""walls": [],"#).joined(separator: people)
        let error = try #require(throws: ScenarioError.self) { try Self.survey(flat, replacing: text, with: other) }
        #expect(error.path == path)
        #expect(error.description.contains(sentence), "\(error)")
    }

    @Test("A scenario without rooms has a clear error, as has a receiver to try that is in no room")
    func others() throws {
        let error = try #require(throws: ScenarioError.self) { try RoomSurvey(Scenario(named: "museum")) }
        #expect(error.path == "rooms")
        let survey = try Self.survey()
        #expect(throws: ScenarioError.self) {
            try survey.adding(RoomSurvey.Receiver(name: "far", position: Point(x: 99, y: 0)))
        }
    }

    @Test("A person who carries the first beacon sets the walk, which has to visit each room")
    func ownWalk() throws {
        func carried(_ walk: String) -> String {
            let person =
                #""duration": 90, "people": [{"name": "ann", "walk": \#(walk)}], "#
                + #""beacons": [{"uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "carriedBy": "ann"}],"#
            return Self.flat.split(separator: #""duration": 1,"#).joined(separator: person)
        }
        let survey = try Self.survey(
            carried(#"[{"to": [1, 1, 1], "pause": 40}, {"to": [5, 1, 1], "pause": 30}, [10, 1, 1]]"#))
        #expect(survey.hasOwnWalk)
        let forecast = try Self.report(survey).forecast
        #expect(forecast.confusion[0][0].mean > 0.9)
        #expect(forecast.uncovered == ["bath"])
        let error = try #require(throws: ScenarioError.self) { try Self.survey(carried("[[1, 1], [5, 1]]")) }
        #expect(error.path == "rooms[2]")
    }

    @Test("A prediction ends early when its reader leaves")
    func early() throws {
        var calls = 0
        let report = try RoomReport.make(Self.survey(), seeds: 6) {
            calls += 1
            return calls > 20
        }
        #expect(report == nil)
        #expect(calls == 21)
    }
}

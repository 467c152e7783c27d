import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Events from apps and other beacond instances")
struct IntakeTests {
    private static let install = "F3A1C2D4-0000-4000-8000-000000000001"
    private static let nested = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    private static let now = Date().timeIntervalSince1970

    /// Returns a console with an app, a webhook, a beacon that is fixed at a desk, and rules.
    private func bench(
        _ rules: String = "", settings: WebSettings = WebSettings(), on disk: TestDisk? = nil
    ) throws -> WebBench {
        try WebBench(settings, bench: GatewayBench(disk: disk)) { configuration in
            configuration.intake.apps = [
                .init(name: "museum", apiKey: Secret("key"), secretKey: Secret("secret")),
                .init(name: "shop", apiKey: Secret("other"), secretKey: Secret("secret")),
            ]
            configuration.intake.webhooks = [.init(name: "attic", signingSecret: Secret("whsec_c2VjcmV0"))]
            configuration.beacons = [
                BeaconSettings(
                    name: "key",
                    identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1), place: "desk")
            ]
            for text in rules.split(separator: "\n") {
                guard case .object(let settings)? = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
                    let rule = configuration.rule(.object(settings)).rule
                else { Issue.record("\(text) is not a rule"); continue }
                configuration.launch.rules.append(rule)
            }
        }
    }

    private static func authorization(_ keys: String = "key:secret") -> HTTPFields {
        [.authorization: "Basic \(Data(keys.utf8).base64EncodedString())"]
    }

    private static func proximity(
        _ uuid: String, _ proximity: Int, ago: Double = 0, user: String? = nil, minor: Int = 1
    ) -> String {
        """
        {"type":"k.engage.beaconEnteredProximity","uuid":"\(uuid)","timestamp":\(Int64((now - ago) * 1000)),\
        "data":{"type":1,"uuid":"\(GatewayBench.uuid.uppercased())","major":"1","minor":"\(minor)",\
        "proximity":\(proximity)},"userId":"\(user ?? install)"}
        """
    }

    private static func user(_ name: String, _ attributes: String = "{}") -> String {
        """
        {"type":"k.stats.userAssociated","uuid":"\(UUID())","timestamp":\(Int64(now * 1000)),\
        "data":{"id":"\(name)","attributes":\(attributes)},"userId":"\(name)"}
        """
    }

    private func post(
        _ bench: WebBench, _ events: [String], install: String = Self.install, keys: String = "key:secret"
    ) async throws -> WebBench.Answer {
        try await bench.ask(
            .post, "/v1/app-installs/\(install)/events", headers: Self.authorization(keys),
            body: "[\(events.joined(separator: ","))]")
    }

    private func summaries(_ bench: WebBench) async throws -> [String] {
        try await bench.history.all.map(\.notification.summary)
    }

    private func messages(_ bench: WebBench, install: String = Self.install) async throws -> [[String: Any]] {
        let answer = try await bench.ask(
            .get, "/v1/app-installs/\(install)/messages", headers: Self.authorization())
        #expect(answer.status == 200)
        return answer.json["messages"] as? [[String: Any]] ?? []
    }

    @Test("A batch is stored once, even if it is repeated, and its events are like all others")
    func batch() async throws {
        let bench = try bench()
        let events = [Self.proximity("A1", 2), Self.proximity("a2", 1, user: "mia"), Self.proximity("a3", 3, minor: 9)]
        #expect(try await post(bench, events).status == 204)
        // A part of it again, in another letter case, with a new event.
        #expect(try await post(bench, [Self.proximity("a1", 2), Self.proximity("a4", 3)]).status == 204)
        #expect(
            try await summaries(bench) == [
                "install F3A1C2D4 is far at key", "install F3A1C2D4 is far at 1/9", "mia is immediate at key",
                "install F3A1C2D4 is near at key",
            ])
        let listed = try await bench.ask(.get, "/v1/events?install=\(Self.install)&limit=1").json["events"]
        let event = try #require((listed as? [[String: Any]])?.first)
        #expect(event["kind"] as? String == "proximity" && event["sender"] as? String == "museum")
        #expect(event["place"] as? String == "desk" && event["region"] as? String == "hall")
        #expect((event["detail"] as? [String: Any])?["proximity"] as? String == "far")
        #expect((event["beacon"] as? [String: Any])?["name"] as? String == "key")
    }

    @Test("The same event id from another app is another event")
    func names() async throws {
        let bench = try bench()
        _ = try await post(bench, [Self.proximity("a", 2)])
        _ = try await post(bench, [Self.proximity("a", 2)], install: "other", keys: "other:secret")
        #expect(try await summaries(bench).count == 2)
    }

    @Test(
        "Sending needs an app's keys and no other",
        arguments: ["key:wrong", "nobody:secret", ":", "keysecret", "museum:secret"])
    func keys(keys: String) async throws {
        for settings in [WebSettings(), RequestGuardTests.guarded] {
            let bench = try bench(settings: settings)
            #expect(try await post(bench, [Self.proximity("a", 2)], keys: keys).status == 401)
            #expect(try await summaries(bench) == [])
        }
    }

    @Test("An app's keys only give access to its own routes")
    func scope() async throws {
        let bench = try bench(settings: RequestGuardTests.guarded)
        #expect(try await post(bench, [Self.proximity("a", 2)]).status == 204)
        for path in ["/v1/status", "/v1/installs", "/v1/events", "/v1/installs/\(Self.install)/messages", "/v1/apps"] {
            #expect(try await bench.ask(.get, path, headers: Self.authorization()).status == 401, "\(path)")
        }
        for path in ["/v1/app-installs", "/v1/app-installs/", "/v1/webhooks"] {
            #expect(try await bench.ask(.get, path, headers: Self.authorization()).status == 401, "\(path)")
        }
    }

    @Test("An install belongs to its first app, and no other app reads its messages")
    func installs() async throws {
        let bench = try bench()
        _ = try await post(bench, [Self.proximity("a", 2)])
        try await bench.work()
        #expect(try await post(bench, [Self.proximity("b", 2)], keys: "other:secret").status == 403)
        let path = "/v1/app-installs/\(Self.install)/messages"
        #expect(try await bench.ask(.get, path, headers: Self.authorization("other:secret")).status == 403)
        #expect(
            try await bench.ask(
                .post, path + "/acknowledge", headers: Self.authorization("other:secret"), body: #"{"ids":["x"]}"#
            ).status == 403)
    }

    @Test("A new install belongs to the first of two apps that post for it at once (S11)")
    func newInstall() async throws {
        let bench = try bench()
        // Rules have not processed the first event yet.
        #expect(try await post(bench, [Self.proximity("a", 2)]).status == 204)
        #expect(try await post(bench, [Self.proximity("b", 2)], keys: "other:secret").status == 403)
        let install = UUID().uuidString
        let answers = try await withThrowingTaskGroup(of: (String, Int).self) { group in
            for number in 0..<20 {
                let keys = number.isMultiple(of: 2) ? "key:secret" : "other:secret"
                group.addTask {
                    let events = [Self.proximity("c\(number)", 2)]
                    return (keys, try await post(bench, events, install: install, keys: keys).status)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let accepted = answers.filter { $0.1 == 204 }
        #expect(accepted.count == 10 && Set(accepted.map(\.0)).count == 1)
        #expect(answers.filter { $0.1 == 403 }.count == 10)
        try await bench.work()
        #expect(try await bench.state.people.installs([install])[install]?.events == 10)
    }

    @Test(
        "A faulty event is kept as refused, and the others of its batch are stored",
        arguments: [
            ("1", "1"), (#"{"type":"x"}"#, "1.uuid"), (#"{"type":"","uuid":"2"}"#, "1.type"), (#"{"type":}"#, "1"),
            (#"{"type":"x","uuid":"1","timestamp":"now"}"#, "1.timestamp"), (#"{"type":null,"uuid":"1"}"#, "1.type"),
            (#"{"type":"x","uuid":"1","timestamp":1e999}"#, "1"), ("[1]", "1"),
            (#"{"type":"x","uuid":"a\u0000b"}"#, "1.uuid"), ("", "1"), ("\"a,]b\\\"\"", "1"),
            (#"{"type":"x","uuid":"1","data":{"a":"\#(String(repeating: "p", count: 17_000))"}}"#, "1.data"),
            (#"{"type":"x","uuid":"1","data":"\#(String(repeating: "p", count: 70_000))"}"#, "1"),
            (#"{"type":"x","uuid":"1","data":\#(nested)}"#, "1"),
            // One character of more than a megabyte.
            (#"{"type":"x","uuid":"1","data":"a\#(String(repeating: "\u{301}", count: 600_000))"}"#, "1"),
        ])
    func refused(event: String, key: String) async throws {
        let bench = try bench()
        let events = [Self.proximity("a", 2), event, Self.proximity("b", 1)]
        for _ in 0..<2 {
            let answer = try await post(bench, events)
            #expect(answer.status == 200)
            #expect((answer.json["refused"] as? [[String: Any]])?.map { $0["key"] as? String } == [key])
        }
        #expect(try await summaries(bench).count == 3)
        let listed = try await bench.ask(.get, "/v1/events?kind=refused").json["events"] as? [[String: Any]]
        let refused = try #require(listed?.first)
        #expect(refused["install"] as? String == Self.install && refused["sender"] as? String == "museum")
        #expect((refused["summary"] as? String)?.contains("is refused") == true)
        let data = refused["data"] as? [String: Any]
        let reason = try #require(data?["reason"] as? String)
        #expect(!reason.isEmpty && (event.hasPrefix("{") ? !reason.contains("not a JSON object") : true), "\(reason)")
        #expect(data?["event"] as? String == String(decoding: event.utf8.prefix(1_000), as: UTF8.self))
        try await bench.work()
        #expect(try await bench.state.people.installs([Self.install])[Self.install]?.events == 3)
    }

    @Test("A request that is too large or no list stores no event, and a large one lets the app go on")
    func requests() async throws {
        let bench = try bench()
        for body in ["{}", "nothing", "", "[", "[1", "[1}", "[1]]", "[1],"] {
            let answer = try await bench.ask(
                .post, "/v1/app-installs/i/events", headers: Self.authorization(), body: body)
            #expect(answer.status == 400, "\(body)")
        }
        #expect(try await post(bench, []).status == 204)
        #expect(try await summaries(bench) == [])
        let large = "{\"type\":\"x\",\"uuid\":\"1\",\"data\":\"\(String(repeating: "p", count: 60_000))\"}"
        #expect(try await post(bench, Array(repeating: large, count: 150)).status == 200)
        #expect(try await summaries(bench).first?.hasPrefix("request of install F3A1C2D4 is refused: it has") == true)
    }

    @Test("OptimoveSDK's beacons are understood: numbers for major and minor, and Eddystone")
    func optimove() async throws {
        let bench = try bench()
        let text = Self.proximity("a", 2, user: "mia").replacing("\"1\"", with: "1")
        let eddystone =
            #"{"type":"k.engage.beaconEnteredProximity","uuid":"b","userId":"mia","data":{"type":2,"namespace":"edd1ebeac04e5defa017","instance":"0123456789ab","distance":1.26}}"#
        #expect(try await post(bench, [text, eddystone]).status == 204)
        #expect(
            Set(try await summaries(bench)) == [
                "mia is near at key", "mia is near the Eddystone beacon edd1ebeac04e5defa017 0123456789ab, 1.3 m away",
            ])
        let listed = try await bench.ask(.get, "/v1/events?kind=app").json["events"] as? [[String: Any]]
        #expect((listed?.first?["data"] as? [String: Any])?["type"] as? String == "k.engage.beaconEnteredProximity")
    }

    @Test("An app's own properties \"type\" and \"dataType\" are kept", arguments: ["type", "dataType"])
    func ownTypes(key: String) async throws {
        let bench = try bench()
        let event = #"{"type":"import","uuid":"a","data":{"\#(key)":"csv"}}"#
        #expect(try await post(bench, [event]).status == 204)
        let listed = try await bench.ask(.get, "/v1/events?kind=app").json["events"] as? [[String: Any]]
        let data = listed?.first?["data"] as? [String: Any]
        #expect(data?["type"] as? String == "import" && data?["dataType"] as? String == "csv")
    }

    // MARK: - Kumulos' own SDK

    /// Returns what Kumulos' SDK for Swift 10.0.0 stores of an answer, or nil where it would end the app.
    private func sync(
        _ bench: WebBench, as user: String, after: String? = nil, keys: String = "key:secret"
    ) async throws -> [(id: Int, text: String)]? {
        let answer = try await bench.ask(
            .get, "/v1/users/\(user)/messages\(after.map { "?after=\($0)" } ?? "")", headers: Self.authorization(keys))
        guard answer.status < 300,
            let list = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [[String: Any]]
        else { return nil }
        let parser = DateFormatter()
        parser.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZZZZZ"
        parser.locale = Locale(identifier: "en_US_POSIX")
        var stored: [(id: Int, text: String)] = []
        for message in list {
            guard let id = message["id"] as? Int, (1...0x7FFF_FFFF).contains(id),
                let updated = (message["updatedAt"] as? String).flatMap(parser.date(from:)),
                abs(updated.timeIntervalSince1970 - Self.now) < 600,
                ["immediately", "next-open", "never"].contains(message["presentedWhen"] as? String),
                let content = message["content"] as? [String: Any], let inbox = message["inbox"] as? [String: Any],
                inbox["title"] is String, inbox["subtitle"] is String,
                (message["sentAt"] as? String).flatMap(parser.date(from:)) != nil
            else { return nil }
            stored.append((id, content["text"] as? String ?? ""))
        }
        return stored
    }

    private static func receipt(_ what: String, _ id: Int, user: String) -> String {
        #"{"type":"k.message.\#(what)","uuid":"\#(UUID())","timestamp":\#(Int64(now * 1000)),"data":{"type":2,"id":\#(id)},"userId":"\#(user)"}"#
    }

    private static let later = "2099-01-01T00%3A00%3A00Z"

    @Test("Kumulos' own SDK gets a message until it has reported it, whatever its clock says")
    func inApp() async throws {
        let bench = try bench(
            #"{"name":"hello","events":["near"],"message":{"title":"{place}","text":"{user} at {beacon}","url":"https://example.com"}}"#
        )
        #expect(try await sync(bench, as: "mia")?.isEmpty == true)
        _ = try await post(bench, [Self.user("mia"), Self.proximity("a", 2, user: "mia")])
        try await bench.work()
        for after in [nil, Self.later, "nonsense", Self.later] {
            #expect(try await sync(bench, as: "mia", after: after)?.map(\.text) == ["mia at key"])
        }
        // Other users and other apps do not.
        for (user, keys) in [("tom", "key:secret"), (Self.install, "key:secret"), ("mia", "other:secret")] {
            #expect(try await sync(bench, as: user, keys: keys)?.isEmpty == true, "\(user)")
        }
        #expect(try await sync(bench, as: "mia", keys: "key:wrong") == nil)
        let id = try #require(try await sync(bench, as: "mia")?.first?.id)
        _ = try await post(bench, [Self.receipt("delivered", id, user: "mia")])
        try await bench.work()
        #expect(try await sync(bench, as: "mia", after: Self.later)?.isEmpty == true)
        // Without "after", the phone has nothing yet.
        #expect(try await sync(bench, as: "mia")?.count == 1)
        func shown() async throws -> [String: Any] {
            let answer = try await bench.ask(.get, "/v1/installs/\(Self.install)/messages")
            return try #require((answer.json["messages"] as? [[String: Any]])?.first)
        }
        #expect(try await shown()["state"] as? String == "delivered")
        #expect(try await shown()["number"] as? Int == id)
        _ = try await post(bench, [Self.receipt("opened", id, user: "mia"), Self.receipt("opened", 1, user: "mia")])
        try await bench.work()
        #expect(try await shown()["state"] as? String == "opened")
        #expect(try await sync(bench, as: "mia")?.isEmpty == true)
        _ = try await post(bench, [Self.receipt("dismissed", id, user: "mia")])
        try await bench.work()
        #expect(try await shown()["state"] as? String == "dismissed")
        #expect(try await summaries(bench).contains("mia closed message \(id)"))
    }

    @Test("Both phones of a user get a message, until it is opened on one of them")
    func phones() async throws {
        let bench = try bench(#"{"name":"hello","events":["near"],"at-most":"1d","message":"hello"}"#)
        _ = try await post(bench, [Self.user("mia")], install: "second")
        _ = try await post(bench, [Self.user("mia"), Self.proximity("a", 2, user: "mia")])
        try await bench.work()
        let id = try #require(try await sync(bench, as: "mia", after: Self.later)?.first?.id)
        for (phone, count) in [(Self.install, 1), ("second", 0)] {
            _ = try await post(bench, [Self.receipt("delivered", id, user: "mia")], install: phone)
            try await bench.work()
            #expect(try await sync(bench, as: "mia", after: Self.later)?.count == count, "\(phone)")
        }
        #expect(try await sync(bench, as: "mia")?.count == 1)
        _ = try await post(bench, [Self.receipt("opened", id, user: "mia")], install: "second")
        try await bench.work()
        #expect(try await sync(bench, as: "mia")?.isEmpty == true)
        // A later user of the phone does not get what was meant for another.
        _ = try await post(bench, [Self.proximity("b", 2, user: "ada")])
        _ = try await post(bench, [Self.user("tom")])
        try await bench.work()
        #expect(try await sync(bench, as: "tom")?.isEmpty == true)
    }

    @Test("An app without a user asks for its install's messages")
    func inAppWithoutUser() async throws {
        let bench = try bench(#"{"name":"hello","events":["near"],"message":"hello"}"#)
        _ = try await post(bench, [Self.proximity("a", 2)])
        try await bench.work()
        #expect(try await sync(bench, as: Self.install, after: Self.later)?.map(\.text) == ["hello"])
    }

    @Test("The page for messages needs no token and has no data, and other machines get it")
    func page() async throws {
        for settings in [WebSettings(), RequestGuardTests.guarded] {
            let bench = try bench(settings: settings)
            let page = try await bench.ask(.get, "/in-app.html", headers: [:])
            #expect(page.status == 200 && page.body.contains("in-app.js"))
            let script = try await bench.ask(.get, "/in-app.js", headers: [:]).body
            for word in ["READY", "MESSAGE_OPENED", "MESSAGE_CLOSED", "EXECUTE_ACTIONS", "postHostMessage"] {
                #expect(script.contains(word))
            }
        }
    }

    @Test("Users, attributes and counts match the events, even if events are repeated")
    func users() async throws {
        let bench = try bench()
        let events = [
            Self.user("mia", #"{"plan":"gold","age":7,"list":[1],"vip":true}"#), Self.proximity("a", 2, user: "mia"),
        ]
        for _ in 0..<2 {
            _ = try await post(bench, events)
            try await bench.work()
        }
        let answer = try await bench.ask(.get, "/v1/installs")
        let install = try #require((answer.json["installs"] as? [[String: Any]])?.first)
        #expect(install["user"] as? String == "mia" && install["events"] as? Int == 2)
        #expect(install["attributes"] as? [String: String] == ["plan": "gold", "age": "7", "vip": "true"])
        let cleared = #"{"type":"k.stats.userAssociationCleared","uuid":"c","data":{"oldUserIdentifier":"mia"}}"#
        _ = try await post(bench, [cleared])
        try await bench.work()
        #expect(try await bench.state.people.installs(["\(Self.install)"])[Self.install]?.user == nil)
        // An event with another user, and an event without a user.
        _ = try await post(bench, [Self.proximity("d", 2, user: "tom")])
        try await bench.work()
        #expect(try await bench.state.people.installs([Self.install])[Self.install]?.user == "tom")
        _ = try await post(bench, [Self.proximity("e", 2)])
        try await bench.work()
        #expect(try await bench.state.people.installs([Self.install])[Self.install]?.user == nil)
        let forgotten = try await bench.ask(
            .delete, "/v1/installs/\(Self.install)", headers: [.consoleRequest: "1"])
        #expect(forgotten.status == 204)
        #expect(try await bench.ask(.get, "/v1/installs/\(Self.install)/messages").status == 404)
    }

    @Test("An install that is too old for the list has its own address")
    func older() async throws {
        let bench = try bench()
        // The store orders installs by the transaction of their newest event.
        for numbers in [0...0, 1...1_000] {
            let step = try numbers.map { number in
                try StoredPeople.changes(
                    saving: Install(
                        id: "i\(number)", app: "museum", user: "mia", first: .zero, last: .zero, events: 7,
                        attributes: ["plan": "gold"]))
            }
            try await bench.history.store.append(Step(changes: step.flatMap(\.self)))
        }
        for text in ["one", "two"] {
            let sent = try await bench.ask(
                .post, "/v1/installs/i0/messages", headers: [.consoleRequest: "1"], body: #"{"text":"\#(text)"}"#)
            #expect(sent.status == 201)
        }
        let list = try await bench.ask(.get, "/v1/installs").json["installs"] as? [[String: Any]]
        #expect(list?.count == 1_000 && list?.contains { $0["id"] as? String == "i0" } == false)
        let found = try await bench.ask(.get, "/v1/installs/i0").json
        #expect(
            found["app"] as? String == "museum" && found["user"] as? String == "mia" && found["events"] as? Int == 7)
        #expect(found["attributes"] as? [String: String] == ["plan": "gold"] && found["waiting"] as? Int == 2)
        let unknown = try await bench.ask(.get, "/v1/installs/i")
        #expect(unknown.status == 404 && unknown.json["detail"] as? String == "unknown install", "\(unknown.body)")
    }

    @Test("A user keeps the attributes from a batch in which another user, or none, follows", arguments: [true, false])
    func formerUser(isFollowed: Bool) async throws {
        let bench = try bench()
        let next =
            isFollowed
            ? Self.user("bob", #"{"plan":"tin"}"#)
            : #"{"type":"k.stats.userAssociationCleared","uuid":"c","data":{"oldUserIdentifier":"mia"}}"#
        _ = try await post(bench, [Self.user("mia", #"{"plan":"gold"}"#), next])
        try await bench.work()
        let first = try await bench.state.people.installs([Self.install])[Self.install]
        #expect(first?.user == (isFollowed ? "bob" : nil) && first?.attributes == (isFollowed ? ["plan": "tin"] : [:]))
        // She returns without attributes in the event.
        _ = try await post(bench, [Self.proximity("a", 2, user: "mia")])
        try await bench.work()
        let last = try await bench.state.people.installs([Self.install])[Self.install]
        #expect(last?.user == "mia" && last?.attributes == ["plan": "gold"])
    }

    @Test("A rule sends its message once, and the install has it until it is acknowledged")
    func message() async throws {
        let bench = try bench(
            #"{"name":"hello","events":["near"],"beacons":["key"],"who":{"attributes":{"plan":"gold"}},"message":{"title":"{place}","text":"{user} at {beacon}"}}"#
        )
        // Of another visit: a beacon that disappears for less than five seconds is near only once.
        _ = try await post(bench, [Self.proximity("a", 1, ago: 60)])
        try await bench.work()
        #expect(try await messages(bench).isEmpty)
        _ = try await post(
            bench, [Self.user("mia", #"{"plan":"gold"}"#), Self.proximity("b", 3, user: "mia", minor: 9)])
        _ = try await post(bench, [Self.proximity("c", 3, user: "mia"), Self.proximity("d", 2, user: "mia")])
        try await bench.work()
        let first = try await messages(bench)
        #expect(first.map { $0["text"] as? String } == ["mia at key"])
        #expect(first.first?["title"] as? String == "desk")
        #expect(try await messages(bench).count == 1)
        // Another install has no message.
        _ = try await post(bench, [Self.proximity("z", 3)], install: "z")
        #expect(try await messages(bench, install: "z").isEmpty)
        let id = try #require(first.first?["id"] as? String)
        for _ in 0..<2 {
            let taken = try await bench.ask(
                .post, "/v1/app-installs/\(Self.install)/messages/acknowledge", headers: Self.authorization(),
                body: #"{"ids":["\#(id)","nobody's"]}"#)
            #expect(taken.status == 204)
        }
        #expect(try await messages(bench).isEmpty)
        let runs = try await bench.ask(.get, "/v1/rules/runs?rule=hello").json["runs"] as? [[String: Any]]
        #expect(runs?.map { $0["outcome"] as? String } == ["done"])
        #expect(runs?.first?["detail"] as? String == "mia at key" && runs?.first?["person"] as? String == "mia")
    }

    @Test("An event that arrives hours later sends nothing, unless the rule accepts late events")
    func late() async throws {
        let bench = try bench(
            """
            {"name":"now","events":["near"],"message":"now"}
            {"name":"any","events":["near"],"late":true,"message":"any"}
            """)
        _ = try await post(bench, [Self.proximity("a", 2, ago: 3_600)])
        try await bench.work()
        #expect(try await messages(bench).map { $0["text"] as? String } == ["any"])
        let runs = try await bench.ask(.get, "/v1/rules/runs?rule=now").json["runs"] as? [[String: Any]]
        #expect((runs?.first?["detail"] as? String)?.contains("later") == true)
    }

    @Test("A clock that is years ahead does not block rules, and users of different apps are different people")
    func ahead() async throws {
        let bench = try bench(#"{"name":"r","events":["near"],"at-most":"1h","message":"hi"}"#)
        _ = try await post(bench, [Self.proximity("a", 2, ago: -80 * 366 * 86_400.0, user: "mia")])
        try await bench.work()
        #expect(try await messages(bench).count == 1)
        let event = try #require(try await bench.history.all.first?.notification)
        #expect(event.time.seconds < Date().timeIntervalSince1970 + 1)
        _ = try await post(bench, [Self.proximity("b", 2, user: "mia")], install: "other", keys: "other:secret")
        try await bench.work()
        #expect(try await bench.state.people.messages(of: "other", isWaiting: true, limit: 9).count == 1)
    }

    @Test("After a restart, processed events are not processed again, and all others are")
    func restart() async throws {
        let bench = try bench(#"{"name":"r","events":["near"],"message":"{event}"}"#)
        for number in 0..<450 { _ = try await post(bench, [Self.proximity("\(number)", 2)], install: "i\(number)") }
        // Stop in the middle: a part is processed, by a process that then ends.
        #expect(try await bench.received.work())
        let later = RuleConsumer(
            history: bench.history, people: bench.state.people,
            engine: RuleEngine(
                await bench.gateway.configuration.launch.rules, trail: bench.state.trail,
                logger: bench.bench.lines.logger), gateway: bench.gateway, broadcast: bench.broadcast,
            logger: bench.bench.lines.logger)
        while try await later.work() {}
        let installs = try await bench.state.people.installs(limit: 1_000)
        #expect(installs.count == 450 && installs.allSatisfy { $0.events == 1 && $0.waiting == 1 })
    }

    @Test(
        "Each acknowledged event is processed once, whatever its clock and however few events are kept",
        arguments: ["1", "2145916800000", "9e18"], [1, 40])
    func wrongClocks(timestamp: String, rest: Int) async throws {
        let bench = try bench(#"{"name":"r","events":["near"],"message":"{event}"}"#)
        let store = bench.history.store
        await store.setRetention(.init(age: .seconds(86_400), events: 60))
        for round in 0..<20 {
            let events = (0..<20).map { number in
                Self.proximity("\(round)-\(number)", 2).replacing(
                    #/"timestamp":\d+/#, with: "\"timestamp\":\(timestamp)")
            }
            var answer = try await post(bench, events)
            if answer.status == 503 {
                #expect(answer.headers[.retryAfter] != nil)
                try await bench.work()
                answer = try await post(bench, events)
            }
            #expect(answer.status == 204)
            // Surplus events are removed after each request, processed or not.
            try await store.maintain()
            if round % rest == 0 { _ = try await bench.received.work() }
        }
        try await bench.work()
        try await store.maintain()
        try await bench.work()
        #expect(try await bench.state.people.installs(limit: 9).map(\.events) == [400])
        #expect(try await bench.history.all.count <= 60)
    }

    @Test("While the disk fails, events are refused with a time to send them again")
    func failingDisk() async throws {
        let disk = TestDisk()
        let bench = try bench(on: disk)
        let events = [Self.proximity("a", 2)]
        #expect(try await post(bench, events).status == 204)
        disk.fail(EventStoreError(.full, "no sector is left"))
        let answer = try await post(bench, [Self.proximity("b", 2)])
        #expect(answer.status == 503 && answer.headers[.retryAfter] == "5")
        #expect((answer.json["detail"] as? String)?.contains("no sector is left") == true)
        let region = "\"region\":{\"name\":\"cellar\",\"uuid\":\"\(GatewayBench.uuid)\"}"
        let enter = Self.cloud("018bcfe5-6800-7000-8000-000000000001", #""kind":"enter",\#(region)"#)
        #expect(try await hook(bench, enter) == 503)
        disk.fail(nil)
        #expect(try await post(bench, [Self.proximity("b", 2)]).status == 204)
        #expect(try await hook(bench, enter) == 204)
        #expect(try await summaries(bench).count == 3)
    }

    // MARK: - Other beacond instances

    private func hook(
        _ bench: WebBench, _ body: String, id: String = "m1", secret: String = "whsec_c2VjcmV0", ago: Double = 0,
        media: String = "application/cloudevents+json", name: String = "attic"
    ) async throws -> Int {
        let timestamp = Int64(Date().timeIntervalSince1970 - ago)
        let signature = try WebhookSignature([Secret(secret)]).value(
            id: id, timestamp: timestamp, body: Data(body.utf8))
        return try await bench.ask(
            .post, "/v1/webhooks/\(name)",
            headers: [
                .contentType: media, .webhookID: id, .webhookTimestamp: "\(timestamp)", .webhookSignature: signature,
            ], body: body
        ).status
    }

    private static func cloud(_ id: String, _ data: String) -> String {
        """
        {"specversion":"1.0","id":"\(id)","source":"s","type":"beacon.x","data":{"id":"\(id)","time":1800000000,\(data)}}
        """
    }

    @Test("A signed CloudEvent of another beacond is stored once, and refused with a wrong signature")
    func webhook() async throws {
        let bench = try bench()
        let (one, two) = ("018bcfe5-6800-7000-8000-000000000001", "018bcfe5-6800-7000-8000-000000000002")
        let region = "\"region\":{\"name\":\"cellar\",\"uuid\":\"\(GatewayBench.uuid)\"}"
        let enter = Self.cloud(one, #""kind":"enter",\#(region)"#)
        #expect(try await hook(bench, enter, secret: "whsec_b3RoZXI=") == 401)
        #expect(try await hook(bench, enter, ago: 3_600) == 401)
        #expect(try await hook(bench, enter, name: "cellar") == 404)
        #expect(try await hook(bench, enter, media: "application/json") == 415)
        #expect(try await hook(bench, "{}") == 422)
        #expect(try await summaries(bench) == [])
        #expect(try await hook(bench, enter) == 204)
        #expect(try await hook(bench, enter) == 204)
        let exit = Self.cloud(two, #""kind":"exit",\#(region)"#)
        let heartbeat = Self.cloud("018bcfe5-6800-7000-8000-000000000003", #""kind":"heartbeat","presence":[]"#)
        let batch = "[\(enter),\(exit),\(heartbeat)]"
        #expect(try await hook(bench, batch, media: "application/cloudevents-batch+json") == 204)
        #expect(try await summaries(bench) == ["cellar was left", "cellar was entered"])
        for odd in [
            Self.cloud("", #""kind":"enter",\#(region)"#), Self.cloud("a\\nb", #""kind":"enter",\#(region)"#),
            Self.cloud(String(repeating: "i", count: 201), #""kind":"enter",\#(region)"#),
            enter.replacing("1.0", with: "0.3"), enter.replacing(#""source":"s""#, with: #""source":"""#),
            Self.cloud(one, #""kind":"enter","receiver":"\#(String(repeating: "r", count: 900_000))",\#(region)"#),
            Self.cloud(
                one,
                #""kind":"application","name":"n","properties":{"a":"\#(String(repeating: "p", count: 20_000))"}"#),
        ] { #expect(try await hook(bench, odd) == 422, "\(odd.prefix(80))") }
        #expect(try await summaries(bench).count == 2)
        let unsigned = try await bench.ask(
            .post, "/v1/webhooks/attic", headers: [.contentType: "application/cloudevents+json"], body: enter)
        #expect(unsigned.status == 401)
    }
}

extension WebBench {
    /// Processes some received events.
    var received: RuleConsumer {
        RuleConsumer(
            history: history, people: state.people, engine: rules, gateway: gateway, broadcast: broadcast,
            logger: bench.lines.logger)
    }

    /// Processes all received events.
    func work() async throws { while try await received.work() {} }
}

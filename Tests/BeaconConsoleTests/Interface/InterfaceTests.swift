import BeaconConfiguration
import BeaconDelivery
import BeaconModel
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

/// The answers of all operations, which ``WebBench`` compares with the description.
@Suite("The interface: description")
struct InterfaceTests {
    /// A request and its expected answer: a success, unless the bench cannot have one.
    private struct Sample {
        var operation: String
        var path: String
        var body: String?
        var status: Int
        var headers: HTTPFields

        init(
            _ operation: String, _ path: String? = nil, _ body: String? = nil, _ status: Int = 200,
            headers: HTTPFields = [:]
        ) {
            self.operation = operation
            self.path = path ?? String(operation.split(separator: " ")[1])
            (self.body, self.status, self.headers) = (body, status, headers)
        }

        var method: HTTPRequest.Method { .init(rawValue: String(operation.prefix { $0 != " " })) ?? .get }
    }

    private static let uuid = GatewayBench.uuid
    private static let app: HTTPFields = [.authorization: "Basic \(Data("key:secret".utf8).base64EncodedString())"]
    private static let gate: HTTPFields = [.authorization: "Bearer 0123456789abcdef"]

    /// Endless requests, of which only the headers are requested.
    private static let endless: Set = [
        "/v1/events/stream", "/v1/ranging/stream", "/v1/sightings", "/v1/teaching/stream",
    ]

    /// Requests that read, with content in every answer.
    private static let shown: [Sample] = [
        Sample("GET /metrics"), Sample("GET /v1/status"), Sample("GET /v1/health"), Sample("GET /v1/live"),
        Sample("GET /v1/ready"), Sample("GET /v1/why", "/v1/why?region=hall"),
        Sample("GET /v1/openapi.json"), Sample("GET /v1/schema.json"), Sample("GET /v1/backup"),
        Sample("GET /v1/sources"), Sample("GET /v1/receivers"), Sample("GET /v1/regions"), Sample("GET /v1/places"),
        Sample("GET /v1/registered-beacons"), Sample("GET /v1/registered-beacons/export"), Sample("GET /v1/beacons"),
        Sample("GET /v1/beacons/heard", "/v1/beacons/heard?seconds=600"),
        Sample("GET /v1/ranging/stream"), Sample("GET /v1/sightings"), Sample("GET /v1/teaching/stream"),
        Sample("GET /v1/taught"),
        Sample("GET /v1/fleet", nil, nil, 404), Sample("GET /v1/rules"), Sample("GET /v1/rules/runs"),
        Sample("GET /v1/events"), Sample("GET /v1/events/counts", "/v1/events/counts?from=0&to=2000000000"),
        Sample("GET /v1/events/stream"), Sample("GET /v1/events/export", "/v1/events/export?format=log"),
        Sample("GET /v1/advertising"), Sample("GET /v1/outbox"),
        Sample("GET /v1/outbox/entries", "/v1/outbox/entries?destination=cloud"), Sample("GET /v1/apps"),
        Sample("GET /v1/installs"), Sample("GET /v1/plan"), Sample("GET /v1/secrets"), Sample("GET /v1/destinations"),
        Sample("GET /v1/plan/image"), Sample("GET /v1/replay", "/v1/replay?from=1&to=2", nil, 409),
        Sample("GET /v1/trace/why", "/v1/trace/why?at=1&beacon=\(uuid)/1/1", nil, 409),
        Sample("GET /v1/trace", "/v1/trace?from=1&to=2&beacon=\(uuid)/1/1", nil, 409),
    ]

    /// Requests that change something, before everything is read.
    private static let changes: [Sample] = [
        item("regions", #""uuid":"\#(uuid)","major":3"#),
        Sample("PUT /v1/regions/{name}", "/v1/regions/new", body(#""uuid":"\#(uuid)","major":4"#)),
        item("places", #""receivers":["c"]"#),
        Sample("PUT /v1/places/{name}", "/v1/places/new", body(#""receivers":["d"]"#)),
        item("registered-beacons", #""uuid":"\#(uuid)","major":1,"minor":9"#),
        Sample(
            "PUT /v1/registered-beacons/{name}", "/v1/registered-beacons/new",
            body(#""uuid":"\#(uuid)","major":1,"minor":8,"attributes":{"floor":"2"}"#)),
        Sample(
            "POST /v1/registered-beacons/import", nil, "name,uuid,major,minor\nshelf,\(uuid),1,7\n",
            headers: [.contentType: "text/csv"]),
        Sample("POST /v1/items/take-over", nil, #"{"kind":"beacon","name":"old"}"#, 200),
        Sample(
            "POST /v1/teaching", nil, #"{"place":"bath","beacon":{"uuid":"\#(uuid)","major":1,"minor":2}}"#, 201),
        Sample("POST /v1/teaching/keep", nil, nil, 409), Sample("DELETE /v1/teaching", nil, nil, 204),
        Sample("POST /v1/taught/undo", nil, nil, 404), Sample("DELETE /v1/taught/{name}", "/v1/taught/bath", nil, 404),
        item("sources", #""from":"simulation:museum?loop""#),
        Sample("PUT /v1/sources/{name}", "/v1/sources/new", body(#""from":"simulation:museum""#)),
        Sample("POST /v1/sources/try", nil, body(#""from":"simulation:museum""#)),
        item("destinations", #""type":"webhook","url":"http://127.0.0.1:1/""#),
        Sample(
            "PUT /v1/destinations/{name}", "/v1/destinations/new",
            body(#""type":"webhook","url":"http://127.0.0.1:2/","secret":"open sesame""#)),
        Sample("POST /v1/destinations/try", nil, body(#""type":"webhook","url":"http://127.0.0.1:1/""#)),
        Sample("PUT /v1/receivers/{name}/name", "/v1/receivers/a/name", #"{"name":"hall"}"#, 409),
        Sample("PUT /v1/receivers/{name}/place", "/v1/receivers/a/place", #"{"place":"hall"}"#),
        Sample("PUT /v1/secrets/{name}", "/v1/secrets/new", #"{"value":"open sesame"}"#),
        item("rules", #""events":["near"],"message":"hello""#),
        Sample("PUT /v1/rules/{name}", "/v1/rules/new", body(#""events":["enter"],"message":"hello""#)),
        Sample("PUT /v1/rules/{name}/enabled", "/v1/rules/new/enabled", #"{"enabled":false}"#),
        Sample("POST /v1/rules/try", nil, #"{"rule":{"name":"a","events":["enter","near"],"message":"hello"}}"#),
        Sample(
            "PUT /v1/advertising", nil,
            #"{"uuid":"\#(uuid)","major":1,"minor":2,"measuredPower":-59,"enabled":true}"#, 409),
        Sample("POST /v1/outbox/retry", nil, #"{"destination":"cloud"}"#),
        Sample("POST /v1/outbox/drop", nil, #"{"destination":"cloud","state":"all"}"#),
        Sample("POST /v1/apps", nil, #"{"name":"shop"}"#, 201),
        Sample(
            "POST /v1/app-installs/{id}/events", "/v1/app-installs/one/events",
            #"[{"type":"opened","uuid":"1","userId":"ann"}]"#, 204, headers: app),
        Sample("PUT /v1/plan", nil, #"{"width":9,"height":5,"receivers":{"a":[1,2]},"beacons":{}}"#),
        Sample(
            "POST /v1/plan/forecast", nil,
            #"{"plan":{"width":8,"height":4,"receivers":{"a":[1,2],"b":[6,2,2]},"beacons":{},"rooms":[{"name":"hall","polygon":[[0,0],[4,0],[4,4],[0,4]]},{"name":"bath","polygon":[[4,0],[8,0],[8,4],[4,4]]}],"doors":[[4,2]]},"receiver":[2,3]}"#
        ),
        Sample("PUT /v1/plan/image", nil, "<svg/>", headers: [.contentType: "image/svg+xml"]),
        Sample("POST /v1/session", nil, #"{"token":"any"}"#, 204), Sample("DELETE /v1/session", nil, nil, 204),
        Sample(
            "POST /v1/sources/{name}/adverts", "/v1/sources/gates/adverts", "$HBRP,ACCB",
            headers: gate.merging([.contentType: "text/plain"])),
        Sample("POST /v1/webhooks/{name}", "/v1/webhooks/attic", "{}", 401),
        Sample("POST /v1/setup", nil, #"{"source":"auto"}"#, 409), Sample("GET /v1/setup", nil, nil, 409),
        Sample("POST /v1/setup/draft", nil, #"{"source":"auto"}"#, 409),
        Sample("PUT /v1/setup/source", nil, #"{"source":"auto"}"#, 409),
        Sample("POST /v1/setup/broker", nil, #"{"host":"localhost"}"#, 409),
        Sample("POST /v1/setup/listen", nil, #"{"broker":{"host":"localhost"}}"#, 409),
        Sample("POST /v1/setup/scan", nil, #"{"broker":{"host":"localhost"},"gateways":["home/a"]}"#, 409),
    ]

    /// Requests that need an install that has sent something.
    private static let installs: [Sample] = [
        Sample("POST /v1/installs/{id}/messages", "/v1/installs/one/messages", #"{"text":"hello"}"#, 201),
        Sample("GET /v1/installs/{id}", "/v1/installs/one"),
        Sample("GET /v1/installs/{id}/messages", "/v1/installs/one/messages"),
        Sample("GET /v1/app-installs/{id}/messages", "/v1/app-installs/one/messages", headers: app),
        Sample("GET /v1/users/{id}/messages", "/v1/users/ann/messages", headers: app),
        Sample(
            "POST /v1/app-installs/{id}/messages/acknowledge", "/v1/app-installs/one/messages/acknowledge",
            #"{"ids":["1"]}"#, 204, headers: app),
    ]

    /// Requests that remove something, after everything was read.
    private static let removals: [Sample] = [
        Sample("DELETE /v1/regions/{name}", "/v1/regions/new", nil, 204),
        Sample("DELETE /v1/places/{name}", "/v1/places/new", nil, 204),
        Sample("DELETE /v1/registered-beacons/{name}", "/v1/registered-beacons/new", nil, 204),
        Sample("DELETE /v1/sources/{name}", "/v1/sources/new", nil, 204),
        Sample("DELETE /v1/destinations/{name}", "/v1/destinations/new", nil, 204),
        Sample("DELETE /v1/secrets/{name}", "/v1/secrets/new", nil, 204),
        Sample("DELETE /v1/rules/{name}", "/v1/rules/new", nil, 204),
        Sample("DELETE /v1/installs/{id}", "/v1/installs/one", nil, 204),
        Sample("DELETE /v1/apps/{name}", "/v1/apps/shop", nil, 204), Sample("DELETE /v1/plan/image"),
    ]

    private static func body(_ settings: String) -> String { #"{"name":"new",\#(settings)}"# }

    private static func item(_ list: String, _ settings: String) -> Sample {
        Sample("POST /v1/\(list)", nil, body(settings), 201)
    }

    private static func bench(_ settings: WebSettings = WebSettings()) throws -> WebBench {
        let bench = try GatewayBench()
        let log = try bench.log("log", (0..<20).map { GatewayBench.line(1_000 + Double($0), receiver: "a") }.joined())
        var gates = PostedSource(name: "gates")
        gates.token = Secret("0123456789abcdef")
        let file = bench.folder.appendingPathComponent("beacond.yaml").path
        try Data(
            "sources: []\nweb: true\nbeacons:\n  - { name: old, uuid: \(uuid), major: 1, minor: 20 }\n".utf8
        ).write(to: URL(fileURLWithPath: file))
        let ofFile = try GatewayConfiguration.check(file: file, environment: [:]).configuration
        let address = try #require(URL(string: "https://example.com"))
        return try WebBench(
            settings, sources: [log, SourceSettings(name: "gates", specification: .network(gates))],
            places: PlacePlan([.init(name: "hall", receivers: ["a"]), .init(name: "kitchen", receivers: ["b"])]),
            bench: bench
        ) { configuration in
            configuration.path = file
            (configuration.beacons, configuration.items) = (ofFile.beacons, ofFile.items)
            configuration.outbox.path = bench.folder.appendingPathComponent("beacond.sqlite").path
            configuration.intake.apps = [.init(name: "museum", apiKey: Secret("key"), secretKey: Secret("secret"))]
            configuration.intake.webhooks = [.init(name: "attic", signingSecret: Secret("whsec_c2VjcmV0"))]
            configuration.destinations = [
                .init(name: "cloud", kind: .webhook(.init(url: address)))
            ]
        }
    }

    @Test("Each operation is answered as described")
    func answers() async throws {
        let web = try Self.bench()
        let running = Task { await web.gateway.run() }
        try await eventually { await web.gateway.regionValues.contains { $0.state == "inside" } }
        func ask(_ samples: [Sample]) async throws {
            for sample in samples {
                let method = Self.endless.contains(sample.path) ? .head : sample.method
                var headers = sample.headers
                headers[.consoleRequest] = "1"
                let answer = try await web.ask(method, sample.path, headers: headers, body: sample.body)
                #expect(answer.status == sample.status, "\(sample.operation): \(answer.body)")
            }
        }
        try await ask(Self.changes)
        try await web.work()
        try await ask(Self.installs)
        try await ask(Self.shown)
        try await ask(Self.removals)
        await web.gateway.stop()
        await running.value
        let asked = Set((Self.changes + Self.installs + Self.shown + Self.removals).map(\.operation))
        let described = try await Set(WebBench.described.value.operations.map(\.key))
        #expect(asked.symmetricDifference(described) == [])
    }

    @Test("Without the token, only requests that need it are refused")
    func security() async throws {
        let token = AccessToken()
        var settings = WebSettings()
        settings.tokenHash = token.hash
        let web = try Self.bench(settings)
        let described = try await WebBench.described.value.operations
        for operation in described {
            let (method, path) = (
                operation.key.prefix { $0 != " " }, operation.parts.map { $0.hasPrefix("{") ? "x" : $0 }
            )
            let answer = try await web.ask(
                HTTPRequest.Method(rawValue: String(method)) ?? .get, "/" + path.joined(separator: "/"),
                headers: [.consoleRequest: "1"], body: method == "GET" || method == "DELETE" ? nil : "{}")
            if operation.isOfConsole { #expect(answer.status == 401, "\(operation.key)") }
            if answer.status < 300 { #expect(["GET /v1/live", "DELETE /v1/session"].contains(operation.key)) }
        }
    }

    @Test("A fleet matches its description")
    func fleet() async throws {
        var value = FleetOverviewValue(name: "museum", node: "a", connected: true)
        let described = try await WebBench.described.value
        func faults() throws -> [String] {
            let text = String(decoding: try JSONEncoder.sorted.encode(value), as: UTF8.self)
            return described.faults(ofText: text, as: "FleetOverview")
        }
        #expect(try faults() == [])
        (value.partitions, value.owners, value.log, value.delivered) = (2, ["a", nil], 7, 6)
        value.members = [FleetMemberValue(node: "a", worker: "1", works: true, delivers: true)]
        value.members[0].receivers = [.init(name: "hci0", hears: true)]
        #expect(try faults() == [])
        value.partitions = -1
        #expect(try faults() != [])
    }

    @Test("The description has all routes and no others, and its references have targets")
    func routes() async throws {
        let described = try await WebBench.described.value
        #expect(described.missing == [])
        let routes = try WebBench().server.router().routes.filter { $0.method != .head }
        let answered = routes.map { "\($0.method) /\(WebServer.key($0.path.description))" }
        let interface = answered.filter { $0.contains(" /v1/") || $0.hasSuffix(" /metrics") }
        #expect(Set(interface).symmetricDifference(described.operations.map(\.key)) == [])
        #expect(
            Set(answered).subtracting(interface)
                == Set(
                    ConsoleFiles.all.compactMap { file in
                        file.name.contains("/") ? nil : file.name == "index.html" ? "GET /" : "GET /\(file.name)"
                    }))
    }

    /// The keywords that the generators of clients understand. Others, such as `const` and `not`, lose operations.
    private static let keywords: Set = [
        "$ref", "type", "description", "required", "properties", "additionalProperties", "items", "oneOf", "enum",
        "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern", "format",
        "default", "examples",
    ]

    @Test("Generators can name each operation and each value")
    func names() async throws {
        let document = try await WebBench.described.value.document
        let schemas = document["components"]["schemas"].values
        var names = schemas.keys.map { $0.lowercased() }
        func check(_ schema: JSONValue, _ name: String, isNamed: Bool) {
            #expect(Set(schema.values.keys).subtracting(Self.keywords) == [], "\(name)")
            // Generators call the type of an inner object by its path. This type must not be another's.
            if !isNamed, schema["type"] == "object" || schema["enum"] != nil { names.append(name.lowercased()) }
            #expect(isNamed || schema["properties"] == nil, "\(name) has no name of its own")
            for (key, inner) in schema["properties"].values { check(inner, name + key, isNamed: false) }
            for (index, inner) in (schema["oneOf"]?.elements ?? []).enumerated() {
                check(inner, "\(name)\(index)", isNamed: false)
            }
            for key in ["items", "additionalProperties"] {
                if let inner = schema[key] { check(inner, name + key, isNamed: false) }
            }
        }
        for (name, schema) in schemas { check(schema, name, isNamed: true) }
        #expect(Set(names).count == names.count)
        var ids: [String] = []
        for operation in document["paths"].values.values.flatMap(\.values.values) {
            let id = try #require(operation["operationId"]?.text)
            ids.append(id.lowercased())
            for parameter in (operation["parameters"]?.elements ?? []).map(document.resolved) {
                check(parameter["schema"] ?? [:], id + (parameter["name"]?.text ?? ""), isNamed: false)
                #expect(parameter["description"] != nil && parameter["in"] != nil, "\(id)")
            }
        }
        #expect(Set(ids).count == ids.count)
    }

    @Test("The description has the words and keys of the code")
    func words() async throws {
        let schemas = try await WebBench.described.value.document["components"]["schemas"]
        let kinds = schemas["EventKind"]["enum"]?.elements ?? []
        #expect(Set(kinds.compactMap(\.text)) == Set(BeaconNotification.Kind.shown.map(\.rawValue)))
        let topics = schemas["Changes"]["properties"].values.keys
        #expect(Set(topics) == Set(EventBroadcast.Topic.allCases.map(\.rawValue)))
        for word in ItemChanges.reserved {
            #expect(schemas["ItemName"]["description"]?.text?.contains(word) == true, "\(word)")
        }
        func keys(_ value: JSONValue?) -> [String: JSONValue] { value["properties"].values }
        for (name, file) in [
            ("RegionSettings", RegionSettings.grammar.shape.schema()),
            ("PlaceSettings", PlacePlan.Place.grammar.shape.schema()),
            ("RegisteredBeaconSettings", BeaconSettings.grammar.shape.schema()),
            ("RuleSettings", Rule.grammar.shape.schema()),
        ] {
            let own = schemas[name]
            #expect(Set(keys(own).keys) == Set(keys(file).keys), "\(name)")
            #expect(own["required"]?.elements.map(Set.init) == file["required"]?.elements.map(Set.init), "\(name)")
        }
        let rule = keys(Rule.grammar.shape.schema())
        for (name, key) in [("RuleAudience", "who"), ("RuleSchedule", "when")] {
            #expect(Set(keys(schemas[name]).keys) == Set(keys(rule[key]).keys), "\(name)")
        }
    }
}

extension HTTPFields {
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var merged = self
        for field in others { merged[field.name] = field.value }
        return merged
    }
}

import BeaconNATS
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Logs in NATS", .fewAtATime)
struct EventLogTests {
    private static let settings = EventLog.Settings(name: "LOG", subjects: ["log.>"])

    @Test("A log contains the appended messages, in order, and each once")
    func appending() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let log = EventLog(connection, name: "LOG")
        let missing = await #expect(throws: NATSError.self) { try await log.lastSequence() }
        #expect(missing?.code == .notFound)
        try await log.create(Self.settings)
        #expect(try await log.lastSequence() == 0)
        #expect(try await log.last(of: "log.a") == nil)
        #expect(try await log.next(of: "log.>", from: 0) == nil)

        #expect(try await log.append([1], to: "log.a", id: "1", after: 0) == (1, false))
        #expect(try await log.append([2], to: "log.b", id: "2", after: 0) == (2, false))
        #expect(try await log.append([3], to: "log.a", id: "3", after: 1) == (3, false))
        #expect(try await log.append([4], to: "log.a", id: "4") == (4, false))
        #expect(try await log.lastSequence() == 4)

        // Repeat the call, because the acknowledgement was lost.
        #expect(try await log.append([4], to: "log.a", id: "4", after: 3) == (4, true))
        #expect(try await log.append([1], to: "log.a", id: "1", after: 0) == (1, true))
        let wrong = await #expect(throws: NATSError.self) {
            try await log.append([5], to: "log.a", id: "5", after: 3)
        }
        #expect(wrong?.code == .wrongLastSequence)
        #expect(try await log.lastSequence() == 4)

        let last = try #require(try await log.last(of: "log.a"))
        #expect((last.sequence, last.subject, last.payload, last.id) == (4, "log.a", [4], "4"))
        let age = -(try #require(last.time)).timeIntervalSinceNow
        #expect(abs(age) < 300)
        var found: [UInt64] = []
        var sequence: UInt64 = 0
        while let message = try await log.next(of: "log.a", from: sequence) {
            found.append(message.sequence)
            sequence = message.sequence + 1
        }
        #expect(found == [1, 3, 4])
        #expect(try await log.next(of: "log.*", from: 2)?.sequence == 2)
    }

    @Test("A message is found even if the server has forgotten its id")
    func forgottenID() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let log = EventLog(connection, name: "LOG")
        var settings = Self.settings
        settings.duplicateWindow = .milliseconds(100)
        try await log.create(settings)
        let first = try await log.append([1], to: "log.a", id: "1", after: 0)
        // The server's record of ids is only visible through another subject that uses the same id.
        _ = try await log.append([0], to: "log.other", id: "probe")
        try await eventually("it has forgotten") {
            try await !log.append([0], to: "log.other", id: "probe").isDuplicate
        }
        #expect(try await log.append([1], to: "log.a", id: "1", after: 0) == (first.sequence, true))
        _ = try await log.append([2], to: "log.a", id: "2", after: first.sequence)
        #expect(try await log.append([1], to: "log.a", id: "1", after: 0) == (first.sequence, true))
    }

    @Test("Several programs can create a log at the same time, and later ones do not change it")
    func creation() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let log = EventLog(connection, name: "LOG")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await log.create(Self.settings) } }
            try await group.waitForAll()
        }
        var other = Self.settings
        other.maximumAge = .seconds(3600)
        try await log.create(other)
        other.subjects = ["elsewhere"]
        let error = await #expect(throws: NATSError.self) { try await log.create(other) }
        #expect(error?.code == .refused)

        var wide = EventLog.Settings(name: "WIDE", subjects: ["wide"])
        wide.replicas = 3
        let few = await #expect(throws: NATSError.self) { try await EventLog(connection, name: "WIDE").create(wide) }
        #expect(few?.code == .tooFewServers)
        let stream = await #expect(throws: NATSError.self) {
            try await EventLog(connection, name: "LOG").append([1], to: "nowhere", id: "1")
        }
        #expect(stream?.code == .noResponders)
    }

    @Test("Every acknowledged message is stored once, even if the leading server is killed")
    func killedLeader() async throws {
        let cluster = try await NATSCluster(servers: 3)
        let connection = try await NATSConnection.made(cluster.url)
        let log = EventLog(connection, name: "LOG", timeout: .seconds(1))
        var settings = Self.settings
        settings.replicas = 3
        try await persistently { try await log.create(settings) }

        var wide = EventLog.Settings(name: "WIDE", subjects: ["wide"])
        wide.replicas = 5
        let few = await #expect(throws: NATSError.self) { try await EventLog(connection, name: "WIDE").create(wide) }
        #expect(few?.code == .tooFewServers)

        var last: UInt64 = 0
        for number in 0..<200 {
            let expected = last
            if number == 100 {
                let leader = try await Self.leader(connection)
                // The answer to this message is usually lost with the server.
                async let appended = persistently {
                    try await log.append([1], to: "log.a", id: "\(number)", after: expected).sequence
                }
                cluster.kill(leader)
                last = try await appended
                try await cluster.start(leader)
            } else {
                last = try await persistently {
                    try await log.append([1], to: "log.a", id: "\(number)", after: expected).sequence
                }
                // Repeat it as if its answer was lost.
                let again = try await persistently {
                    try await log.append([1], to: "log.a", id: "\(number)", after: expected)
                }
                #expect(again == (last, true))
            }
        }
        var ids: [String] = []
        var sequence: UInt64 = 0
        while let message = try await persistently({
            try await log.next(of: "log.a", from: sequence)
        }) {
            ids.append(message.id ?? "")
            sequence = message.sequence + 1
        }
        #expect(ids == (0..<200).map(String.init))
    }

    /// Returns the number of the server that leads the stream.
    private static func leader(_ connection: NATSConnection) async throws -> Int {
        struct Answer: Decodable {
            struct Cluster: Decodable { var leader: String? }
            var cluster: Cluster?
        }
        while true {
            let message = try await persistently {
                try await connection.request([], to: "$JS.API.STREAM.INFO.LOG")
            }
            let answer = try JSONDecoder().decode(Answer.self, from: Data(message.payload))
            if let number = answer.cluster?.leader?.split(separator: "-").last.flatMap({ Int($0) }) { return number }
        }
    }
}

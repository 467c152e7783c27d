import BeaconNATS
import BeaconSupport
import TestSupport
import Testing

@Suite("Buckets in NATS", .fewAtATime)
struct KeyValueBucketTests {
    @Test("Values are added, replaced and removed by their revisions")
    func revisions() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let bucket = KeyValueBucket(connection, bucket: "b")
        try await bucket.create()
        try await bucket.create()
        #expect(try await bucket.get("k") == nil)
        let first = try await bucket.add([1], for: "k")
        #expect(try await bucket.get("k") == KeyValueBucket.Entry(key: "k", value: [1], revision: first))
        #expect(await code { _ = try await bucket.add([2], for: "k") } == .wrongLastSequence)
        let second = try await bucket.replace([2], for: "k", at: first)
        #expect(await code { try await bucket.replace([3], for: "k", at: first) } == .wrongLastSequence)
        #expect(await code { try await bucket.remove("k", at: first) } == .wrongLastSequence)
        #expect(try await bucket.get("k")?.value == [2])
        try await bucket.remove("k", at: second)
        #expect(try await bucket.get("k") == nil)
        #expect(await code { try await bucket.replace([3], for: "k", at: second) } == .wrongLastSequence)
        let third = try await bucket.add([], for: "k")
        #expect(third > second)
        #expect(try await bucket.get("k")?.value == [])
        #expect(await code { _ = try await bucket.add([4], for: "k") } == .wrongLastSequence)
        try await bucket.put([5], for: "k")
        #expect(try await bucket.get("k")?.value == [5])
        for key in ["", "a b", ".a", "a.", "a..b", "a.*", "grüß"] {
            #expect(await code { try await bucket.put([], for: key) } == .invalidMessage)
        }
        #expect(
            await code { try await KeyValueBucket(connection, bucket: "wide").create(replicas: 3) } == .tooFewServers)
    }

    @Test("The keys below another key are listed")
    func entries() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let bucket = KeyValueBucket(connection, bucket: "b")
        try await bucket.create()
        #expect(try await bucket.entries().isEmpty)
        for key in ["a.x", "b.x", "a.y.z", "a.gone", "a"] { try await bucket.put(Array(key.utf8), for: key) }
        try await bucket.remove("a.gone")
        try await bucket.put([1], for: "a.x")
        #expect(try await bucket.entries(under: "a").map(\.key) == ["a.y.z", "a.x"])
        #expect(try await bucket.entries(under: "a").map(\.value) == [Array("a.y.z".utf8), [1]])
        #expect(try await bucket.entries().map(\.key) == ["b.x", "a.y.z", "a", "a.x"])
        #expect(try await bucket.entries(under: "c").isEmpty)
    }

    @Test("Values that are not written again expire, and can then be added", arguments: [1, 3])
    func timeToLive(servers: Int) async throws {
        let cluster = try await NATSCluster(servers: servers)
        let connection = try await NATSConnection.made(cluster.url)
        let bucket = KeyValueBucket(connection, bucket: "b")
        try await persistently {
            try await bucket.create(timeToLive: .seconds(1), replicas: servers)
        }
        for round in 1...2 {
            let revision = try await persistently {
                try await bucket.add([1], for: "lock")
            }
            #expect(revision == UInt64(round))
            try await eventually("it expires") { try await bucket.get("lock") == nil }
            #expect(await code { try await bucket.replace([2], for: "lock", at: revision) } == .wrongLastSequence)
            #expect(try await bucket.entries().isEmpty)
        }
    }

    private func code(_ body: () async throws -> Void) async -> NATSError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? NATSError)?.code
        }
    }
}

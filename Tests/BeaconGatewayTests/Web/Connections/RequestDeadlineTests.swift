import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections: deadlines of requests")
struct RequestDeadlineTests {
    private let limits = ConnectionLimits()

    private func bench() throws -> ConnectionBench { try ConnectionBench([RequestDeadline(limits)]) }

    @Test(
        "A slow request arrives completely",
        arguments: [(50_000, 1_000, 12), (1_500, 1_000, 400), (64_000, 18_000, 10), (1_000, 900, 600)])
    func slow(_ bytes: Int, _ milliseconds: Int, _ count: Int) throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head())
        for _ in 0..<count {
            bench.loop.advanceTime(by: .milliseconds(Int64(milliseconds)))
            try bench.send(ConnectionBench.body(bytes))
        }
        try bench.send(.end(nil))
        // The server takes as long as it needs, as for a long poll.
        bench.loop.advanceTime(by: .hours(1))
        #expect(bench.isOpen)
        #expect(try bench.received() == count + 2)
        try bench.answer()
        #expect(try bench.read()?.status == 200)
        #expect(limits.counts.slowRequests == 0)
    }

    @Test("A request that stalls or trickles is answered with 408 before the close", arguments: [0, 1, 100, 900])
    func stalled(_ bytesPerSecond: Int) throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head())
        try bench.send(ConnectionBench.body(600_000))
        var answer: ConnectionBench.Answer?
        var seconds = 0
        while answer == nil, seconds < 1_000 {
            bench.loop.advanceTime(by: .seconds(1))
            seconds += 1
            answer = try bench.read()
            if bytesPerSecond > 0 { try bench.send(ConnectionBench.body(bytesPerSecond)) }
        }
        #expect(answer?.status == 408)
        #expect(seconds <= (bytesPerSecond < 900 ? 23 : 201))
        #expect(answer?.headers[.contentType] == "application/problem+json")
        #expect(answer?.headers[.connection] == "close")
        #expect(answer?.headers[.contentLength] == answer.map { "\($0.body.utf8.count)" })
        #expect(answer?.body.contains("send it again") == true)
        // The client has time to read it. Nothing else is read or written.
        _ = try bench.received()
        try bench.send(ConnectionBench.body(1), .end(nil))
        try bench.answer()
        #expect(bench.isOpen)
        #expect(try bench.received() == 0 && bench.read() == nil)
        bench.loop.advanceTime(by: ClosingAnswer.lingering)
        #expect(!bench.isOpen)
        #expect(limits.counts.slowRequests == 1)
    }

    @Test("While the client still sends, the answer stays readable for as long as a refused request is read")
    func sending() throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head())
        bench.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(try bench.read()?.status == 408)
        for _ in 0..<29 {
            bench.loop.advanceTime(by: .seconds(1))
            try bench.send(ConnectionBench.body(1))
            #expect(bench.isOpen)
        }
        bench.loop.advanceTime(by: .seconds(1))
        #expect(!bench.isOpen)
    }

    @Test("A client that closes its side after the answer does not have to wait")
    func halfClosed() throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head())
        bench.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(try bench.read()?.status == 408)
        bench.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!bench.isOpen)
    }

    @Test("While the server does not read, the client is not late")
    func busyServer() throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head(), ConnectionBench.body(1), reading: false)
        bench.loop.advanceTime(by: .minutes(10))
        #expect(bench.isOpen)
        bench.channel.read()
        bench.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(try bench.read()?.status == 408)
    }

    @Test("An idle connection ends without an answer, before the first request and after it")
    func idle() throws {
        let fresh = try bench()
        fresh.loop.advanceTime(by: RequestDeadline.headPatience - .nanoseconds(1))
        #expect(fresh.isOpen)
        fresh.loop.advanceTime(by: .nanoseconds(1))
        #expect(try !fresh.isOpen && fresh.read() == nil)
        let kept = try bench()
        for _ in 0..<20 {
            try kept.send(ConnectionBench.head(.get), .end(nil))
            try kept.answer()
            #expect(try kept.read()?.status == 200)
            kept.loop.advanceTime(by: RequestDeadline.idlePatience - .seconds(1))
            #expect(kept.isOpen)
        }
        kept.loop.advanceTime(by: .seconds(1))
        #expect(try !kept.isOpen && kept.read() == nil)
        #expect(limits.counts.slowRequests == 0)
    }

    @Test("An incomplete head is answered with 408")
    func headless() throws {
        let bench = try bench()
        bench.loop.advanceTime(by: .seconds(9))
        bench.channel.pipeline.fireChannelReadComplete()
        bench.loop.advanceTime(by: .seconds(9))
        // More bytes of the same head do not move the deadline.
        bench.channel.pipeline.fireChannelReadComplete()
        #expect(bench.isOpen)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(try bench.read()?.status == 408)
        bench.loop.advanceTime(by: ClosingAnswer.lingering)
        #expect(!bench.isOpen)
    }

    @Test("If an answer has begun or an earlier request waits for one, the connection ends without another answer")
    func pipelined() throws {
        let begun = try bench()
        try begun.send(ConnectionBench.head())
        try begun.write(.head(HTTPResponse(status: .ok)))
        begun.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(try !begun.isOpen && begun.read()?.status == 200)
        let second = try bench()
        try second.send(ConnectionBench.head(.get), .end(nil), ConnectionBench.head())
        second.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(try !second.isOpen && second.read() == nil)
    }

    @Test("The rest of a refused request is read for a limited time")
    func refused() throws {
        let bench = try bench()
        try bench.send(ConnectionBench.head())
        try bench.answer()
        #expect(try bench.read()?.status == 200)
        for _ in 0..<29 {
            bench.loop.advanceTime(by: .seconds(1))
            try bench.send(ConnectionBench.body(50_000))
        }
        #expect(bench.isOpen)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(!bench.isOpen)
        // A request that ends in time keeps the connection.
        let kept = try self.bench()
        try kept.send(ConnectionBench.head())
        try kept.answer()
        try kept.send(.end(nil))
        kept.loop.advanceTime(by: RequestDeadline.idlePatience - .seconds(1))
        #expect(kept.isOpen)
    }
}

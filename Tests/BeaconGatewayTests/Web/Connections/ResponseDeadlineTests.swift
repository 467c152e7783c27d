import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections: deadlines of responses")
struct ResponseDeadlineTests {
    /// A network that holds written bytes until the client reads them.
    private final class Network: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart
        private var waiting: [(bytes: Int, promise: EventLoopPromise<Void>?)] = []
        private var room = 0
        private(set) var taken = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            var bytes = 0
            if case .body(let buffer) = unwrapOutboundIn(data) { bytes = buffer.readableBytes }
            waiting.append((bytes, promise))
            take(0)
        }

        /// Makes the client read bytes.
        func take(_ bytes: Int) {
            room += bytes
            while let first = waiting.first, first.bytes <= room {
                room -= first.bytes
                taken += first.bytes
                waiting.removeFirst().promise?.succeed()
            }
            if waiting.isEmpty { room = 0 }
        }
    }

    private let limits = ConnectionLimits()
    private let network = Network()

    private func bench() throws -> ConnectionBench { try ConnectionBench([network, ResponseDeadline(limits)]) }

    private func begin(_ bench: ConnectionBench, _ bytes: Int) throws {
        try bench.write(.head(HTTPResponse(status: .ok)))
        try bench.write(.body(ByteBuffer(repeating: 0x20, count: bytes)))
        try bench.write(.end(nil))
    }

    @Test("A slow client gets all of a large answer", arguments: [(50_000, 1_000), (1_100, 1_000), (20_000, 15_000)])
    func slow(_ bytes: Int, _ milliseconds: Int) throws {
        let bench = try bench()
        let size = 600_000
        try begin(bench, size)
        var steps = 0
        while network.taken < size, bench.isOpen, steps < 10_000 {
            bench.loop.advanceTime(by: .milliseconds(Int64(milliseconds)))
            network.take(bytes)
            steps += 1
        }
        #expect(bench.isOpen && network.taken == size)
        // Nothing waits any longer, as in a silent event stream.
        bench.loop.advanceTime(by: .hours(1))
        #expect(bench.isOpen)
        #expect(limits.counts.slowReaders == 0)
    }

    @Test("A client that stalls or reads too slowly is disconnected", arguments: [0, 1, 300])
    func stalled(_ bytesPerSecond: Int) throws {
        let bench = try bench()
        try begin(bench, 600_000)
        network.take(100_000)
        var seconds = 0
        while bench.isOpen, seconds < 1_000 {
            bench.loop.advanceTime(by: .seconds(1))
            network.take(bytesPerSecond)
            seconds += 1
        }
        #expect(seconds <= 30)
        #expect(limits.counts.slowReaders == 1)
    }

    @Test("A stream's events start a new deadline each time the client has read everything")
    func stream() throws {
        let bench = try bench()
        try bench.write(.head(HTTPResponse(status: .ok)))
        for _ in 0..<100 {
            try bench.write(.body(ByteBuffer(string: ":\n\n")))
            bench.loop.advanceTime(by: .seconds(7))
            network.take(3)
            bench.loop.advanceTime(by: .seconds(8))
        }
        #expect(bench.isOpen)
        try bench.write(.body(ByteBuffer(string: ":\n\n")))
        bench.loop.advanceTime(by: ProgressDeadline.patience)
        #expect(!bench.isOpen)
    }

    @Test("A client that reads each part of an answer late is still late for the next")
    func parts() throws {
        let bench = try bench()
        try bench.write(.head(HTTPResponse(status: .ok)))
        var seconds = 0
        while bench.isOpen, seconds < 1_000 {
            try bench.write(.body(ByteBuffer(repeating: 0x20, count: 100)))
            bench.loop.advanceTime(by: .seconds(1))
            network.take(100)
            seconds += 1
        }
        #expect(20...25 ~= seconds)
        #expect(limits.counts.slowReaders == 1)
    }

    @Test("A write's promise completes, and the bytes stay the same")
    func bytes() throws {
        let bench = try ConnectionBench([ResponseDeadline(limits)])
        let text = String((0..<30_000).map { Character(UnicodeScalar(UInt8(0x41 + $0 % 26))) })
        let write = bench.channel.writeAndFlush(HTTPResponsePart.body(ByteBuffer(string: text)))
        try write.wait()
        var read = ""
        while case .body(let buffer)? = try bench.channel.readOutbound(as: HTTPResponsePart.self) {
            #expect(buffer.readableBytes <= 8 << 10)
            read += String(buffer: buffer)
        }
        #expect(read == text)
    }
}

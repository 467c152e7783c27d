import BeaconModel
import BeaconSupport
import Glibc
import Testing

@testable import BeaconRadio

/// A machine in virtual time, which can sleep, and stop a waiting process.
private final class VirtualMachine {
    var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    var asleep: Int64 = 0
    /// The delay of the next wait beyond its deadline, in nanoseconds.
    var delay: Int64 = 0

    var clock: LoopClock {
        LoopClock(
            now: { self.now }, wallAhead: { 0 }, asleep: { self.asleep },
            wait: { _, nanoseconds in
                self.now = self.now.advanced(by: nanoseconds + self.delay)
                self.delay = 0
            })
    }

    /// Delays the end of the next wait because the machine sleeps.
    func sleep(_ seconds: Int64) {
        delay = seconds * Timestamp.nanosecondsPerSecond
        asleep += delay
    }

    /// Delays the end of the next wait because the process is stopped.
    func stop(_ nanoseconds: Int64) { delay = nanoseconds }
}

/// An adapter that hears a beacon at each step.
private final class HearingAdapter: ReceiverDriver {
    let name = "hci0"
    var awakenings: [Timestamp] = []

    private let advert = IBeaconFrame(
        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 1), measuredPower: -59
    )
    .advert

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        let report = AdvertisingReport(
            kind: .nonConnectable, address: DeviceAddress(bits: 1, kind: .random), rssi: SignalStrength(rawValue: -60))
        let advert = advert
        batch.hear(Reception(time: now, receiver: batch.firstReceiver, report: report), advert.span.bytes)
    }

    func wokeUp(at now: Timestamp) { awakenings.append(now) }
}

@Suite("The loop of drivers")
struct DriverLoopTests {
    /// The outputs of a source on such a machine, in order: seconds since it was opened.
    private struct Bench: ~Copyable {
        let machine = VirtualMachine()
        let adapter = HearingAdapter()
        let reported = Locked<[String]>([])
        private var source: SourceReader
        private let start: Timestamp

        init() {
            let (reported, start) = (reported, machine.now)
            self.start = start
            source = SourceReader([adapter], clock: machine.clock) { event in
                guard case .deaf(let from, let to, _) = event else { return }
                reported.withLock { $0.append("deaf \(Self.seconds(from, start)) to \(Self.seconds(to, start))") }
            }
        }

        static func seconds(_ time: Timestamp, _ start: Timestamp) -> Double { Double(time.since(start)) / 1e9 }

        /// Reads one record.
        ///
        /// - Returns: the outputs, in order.
        mutating func next() throws -> [String] {
            let (reported, start) = (reported, start)
            let record = try source.next()
            for sighting in source.sightings {
                reported.withLock { $0.append("heard \(Self.seconds(sighting.time, start))") }
            }
            let time = try #require(record?.time)
            defer { reported.withLock { $0 = [] } }
            return reported.withLock { $0 } + ["time \(Self.seconds(time, start))"]
        }
    }

    @Test("A sleep of the machine is reported as deafness before any later advert (H5)")
    func sleep() throws {
        var bench = Bench()
        _ = try bench.next()
        #expect(try bench.next() == ["heard 2.0", "time 2.0"])
        bench.machine.sleep(8 * 3600)
        #expect(try bench.next() == ["deaf 2.0 to 28803.0", "heard 28803.0", "time 28803.0"])
        #expect(bench.adapter.awakenings.map { Bench.seconds($0, bench.machine.now) } == [0])
        #expect(try bench.next() == ["heard 28804.0", "time 28804.0"])
        #expect(bench.adapter.awakenings.count == 1)
    }

    @Test("A long stop of the process counts as deafness, a delay that the kernel's queue covers does not (H5)")
    func stop() throws {
        var bench = Bench()
        _ = try bench.next()
        bench.machine.stop(1_900_000_000)
        #expect(try bench.next() == ["heard 3.9", "time 3.9"])
        bench.machine.stop(100_000_000_000)
        #expect(try bench.next() == ["deaf 3.9 to 104.0", "heard 104.0", "time 104.0"])
        // The machine did not sleep, so the adapters need no restoration.
        #expect(bench.adapter.awakenings == [])
        #expect(try bench.next() == ["heard 105.0", "time 105.0"])
    }

    @Test("A thread that reads again too late was deaf in between (H5)")
    func latePull() throws {
        var bench = Bench()
        _ = try bench.next()
        bench.machine.now = bench.machine.now.advanced(by: 60_000_000_000)
        #expect(try bench.next() == ["deaf 1.0 to 61.0", "heard 61.0", "time 61.0"])
    }

    @Test("The state is that of the most useful adapter, and only a powered adapter hears (H6)")
    func state() {
        let machine = VirtualMachine()
        let loop = DriverLoop([], waker: Waker(), clock: machine.clock)
        #expect(loop.state == .unsupported)
        #expect(DriverLoop([HearingAdapter()], waker: Waker(), clock: machine.clock).state == .poweredOn)
    }
}

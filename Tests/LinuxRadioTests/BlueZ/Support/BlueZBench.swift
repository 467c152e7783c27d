import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

/// A driver and a stand-in for bluetoothd on a bus of their own, in time that the test moves.
final class BlueZBench {
    /// What was heard.
    struct Heard: Equatable {
        var address: String
        var kind: DeviceAddress.Kind
        var rssi: Int8
        var advert: [UInt8]
    }

    let driver: BlueZDriver
    private var batch = AdvertBatch(keepsAdverts: true)
    private let bus: PrivateBus
    /// bluetoothd; nil while it is dead.
    var blueZ: StandInBlueZ?
    private(set) var heard: [Heard] = []
    private(set) var notices: [RadioNotice] = []
    private(set) var states: [RadioState] = []
    private(set) var advertising: [(frame: OutgoingAdvert, result: Result<Void, RadioError>)] = []
    private(set) var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    init(_ bus: PrivateBus, _ blueZ: StandInBlueZ?, named name: AdapterName = .index(0)) {
        self.blueZ = blueZ
        self.bus = bus
        driver = BlueZDriver("hci0", named: name, at: bus.address)
    }

    /// Lets time pass, in seconds.
    func pass(_ seconds: Int64) { now = now.advanced(by: seconds * Timestamp.nanosecondsPerSecond) }

    /// Lets both sides work until something holds.
    func run(
        until condition: @autoclosure () -> Bool, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let end = ContinuousClock.now + .hang
        while !condition() {
            try #require(
                ContinuousClock.now < end, comment ?? "It does not come. \(notices.last?.message ?? "")",
                sourceLocation: sourceLocation)
            work(within: 20)
        }
    }

    /// Lets both sides work until neither has anything to do and nothing is on its way between them.
    func settle() throws {
        repeat {
            // At once, since time may have passed that a deadline was waiting for.
            work(within: 0)
            try bus.deliver()
        } while work(within: 0)
    }

    /// The descriptor for which the driver waits; -1 where it has none.
    var driverDescriptor: Int32 {
        var found: Int32 = -1
        driver.forEachPoll { descriptor, _ in found = descriptor }
        return found
    }

    /// - Returns: whether there was something to do.
    @discardableResult
    private func work(within milliseconds: Int64) -> Bool {
        let isBusy = Readiness.wait(
            for: [blueZ?.descriptor ?? -1, driverDescriptor], milliseconds: milliseconds)
        blueZ?.process()
        batch.begin()
        driver.process(at: now, into: &batch)
        batch.forEachAdvert { reception, advert in
            heard.append(
                Heard(
                    address: reception.report.address.description, kind: reception.report.address.kind,
                    rssi: reception.report.rssi.rawValue,
                    advert: (0..<advert.byteCount).map { advert.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }))
        }
        for event in batch.takeEvents() {
            switch event {
            case .notice(let notice): notices.append(notice)
            case .advertising(let frame, let result): advertising.append((frame, result))
            case .opened, .heard, .state, .wallClock, .deaf, .failed, .ended: break
            }
        }
        if states.last != driver.state { states.append(driver.state) }
        return isBusy
    }

    /// The outcomes so far: the minor of each frame, negative where it failed.
    var outcomes: [Int] {
        advertising.map { frame, result in
            let minor = Int(frame.frame?.identity.minor ?? 0)
            return if case .success = result { minor } else { -minor }
        }
    }

    /// The notices of a kind.
    func messages(_ kind: RadioNotice.Kind) -> [String] { notices.filter { $0.kind == kind }.map(\.message) }
}

import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

/// A driver and a stand-in for bluetoothd on a private bus, in virtual time.
final class BlueZBench {
    /// A received advert.
    struct Heard: Equatable {
        var address: String
        var kind: DeviceAddress.Kind
        var rssi: Int8
        var advert: [UInt8]
    }

    let driver: BlueZDriver
    private var batch: AdvertBatch
    private let bus: PrivateBus
    /// The stand-in for bluetoothd; nil while it is dead.
    var blueZ: StandInBlueZ?
    private(set) var heard: [Heard] = []
    /// The iBeacons and tags.
    private(set) var sightings: [Sighting] = []
    private(set) var notices: [RadioNotice] = []
    private(set) var states: [RadioState] = []
    private(set) var advertising: [(frame: OutgoingAdvert, result: Result<Void, RadioError>)] = []
    private(set) var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    init(_ bus: PrivateBus, _ blueZ: StandInBlueZ?, named name: AdapterName = .index(0), tags: TagDirectory? = nil) {
        batch = AdvertBatch(keepsAdverts: true, tags: tags)
        self.blueZ = blueZ
        self.bus = bus
        driver = BlueZDriver("hci0", named: name, at: bus.address)
    }

    /// Advances time by seconds.
    func pass(_ seconds: Int64) { now = now.advanced(by: seconds * Timestamp.nanosecondsPerSecond) }

    /// Runs both sides until a condition holds.
    func run(
        until condition: @autoclosure () -> Bool, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let end = ContinuousClock.now + .hang
        while !condition() {
            try #require(
                ContinuousClock.now < end, comment ?? "The condition was not met. \(notices.last?.message ?? "")",
                sourceLocation: sourceLocation)
            work(within: 20)
        }
    }

    /// Runs both sides until neither has anything to do and no message is in transit.
    func settle() throws {
        repeat {
            // At once, since a deadline may have passed.
            work(within: 0)
            try bus.deliver()
        } while work(within: 0)
    }

    /// The descriptor that the driver waits for, or -1 without one.
    var driverDescriptor: Int32 {
        var found: Int32 = -1
        driver.forEachPoll { descriptor, _ in found = descriptor }
        return found
    }

    /// - Returns: true if there was something to do.
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
        sightings += batch.sightings
        for event in batch.drainEvents() {
            switch event {
            case .notice(let notice): notices.append(notice)
            case .advertising(let frame, let result): advertising.append((frame, result))
            case .opened, .heard, .forged, .state, .wallClock, .deaf, .failed, .ended: break
            }
        }
        if states.last != driver.state { states.append(driver.state) }
        return isBusy
    }

    /// The outcomes: the minor of each frame, negative for a failure.
    var outcomes: [Int] {
        advertising.map { frame, result in
            let minor = Int(frame.frame?.identity.minor ?? 0)
            return if case .success = result { minor } else { -minor }
        }
    }

    /// Returns the notices of a kind.
    func messages(_ kind: RadioNotice.Kind) -> [String] { notices.filter { $0.kind == kind }.map(\.message) }
}

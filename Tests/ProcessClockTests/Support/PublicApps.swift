import BeaconCombine
import BeaconSupport
import BeaconTestKit
import CoreLocation
import Dispatch

// Small apps after public ones, which use time in these ways. Nothing is copied from them.

let museum = UUID(
    uuid: (0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0))

/// An app that monitors and ranges beacons.
///
/// Unchecked: all of an app runs on the main queue, unless a subclass says otherwise.
class BeaconApp: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    let manager = CLLocationManager()
    let region = CLBeaconRegion(uuid: museum, identifier: "museum")
    let constraint = CLBeaconIdentityConstraint(uuid: museum)
    let log: Log

    required init(_ log: Log) {
        self.log = log
        super.init()
        manager.delegate = self
        start()
    }

    func start() {}
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
}

/// An exit counts only if it is confirmed 12 seconds later, by a work item that an entry cancels.
final class ExitConfirmation: BeaconApp, @unchecked Sendable {
    private var confirmation: DispatchWorkItem?

    override func start() { manager.startMonitoring(for: region) }

    override func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        log.note("enter")
        confirmation?.cancel()
    }

    override func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        log.note("exit?")
        let confirmation = DispatchWorkItem { [log] in log.note("exit") }
        self.confirmation = confirmation
        DispatchQueue.main.asyncAfter(deadline: .now() + 12, execute: confirmation)
    }
}

/// A screen whose clock a timer updates each second, by way of the main queue.
final class Ticker: BeaconApp, @unchecked Sendable {
    private var timer: Timer?

    override func start() {
        timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [log] _ in
            DispatchQueue.main.async { log.note("tick") }
        }
    }

    deinit { timer?.invalidate() }
}

/// A request for each report, which a queue of its own combines to one every 5 seconds.
final class Uploader: BeaconApp, @unchecked Sendable {
    // Unchecked: guarded by the queue.
    private var isScheduled = false
    private var last: Date?
    private let queue = DispatchQueue(label: "upload")

    override func start() { manager.startRangingBeacons(satisfying: constraint) }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        queue.async { [self] in
            guard !beacons.isEmpty, !isScheduled else { return }
            isScheduled = true
            let since = last.map { Date().timeIntervalSince($0) } ?? .infinity
            queue.asyncAfter(deadline: .now() + max(0, 5 - since)) { [self] in
                (isScheduled, last) = (false, Date())
                log.note("upload")
            }
        }
    }
}

/// Ranging for three seconds after an entry.
final class BriefRanging: BeaconApp, @unchecked Sendable {
    override func start() { manager.startMonitoring(for: region) }

    override func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        log.note("enter")
        manager.startRangingBeacons(satisfying: constraint)
        DispatchQueue.main.asyncAfter(deadline: .now() + 3) { [self] in
            self.manager.stopRangingBeacons(satisfying: constraint)
            log.note("stop")
        }
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        log.note("ranged \(beacons.count)")
    }
}

/// A task that looks each second for beacons that were last seen three seconds ago.
final class StaleBeacons: BeaconApp, @unchecked Sendable {
    private var lastSeen: Date?
    private var task: Task<Void, Never>?

    override func start() {
        manager.startRangingBeacons(satisfying: constraint)
        task = Task { @MainActor [weak self] in
            while !Task.isCancelled {
                do { try await Task.sleep(for: .seconds(1)) } catch { break }
                self?.look()
            }
        }
    }

    private func look() {
        guard let seen = lastSeen, Date().timeIntervalSince(seen) >= 3 else { return }
        lastSeen = nil
        log.note("stale")
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard beacons.contains(where: { $0.proximity != .unknown }) else { return }
        if lastSeen == nil { log.note("seen") }
        lastSeen = Date()
    }

    deinit { task?.cancel() }
}

/// An action that repeats itself every 30 seconds.
final class Reminder: BeaconApp, @unchecked Sendable {
    override func start() {
        DispatchQueue.main.asyncAfter(deadline: .now() + 30) { [weak self] in
            self?.log.note("reminder")
            self?.start()
        }
    }
}

/// A request that fails twice, and is repeated by a timer.
final class RetryingStart: BeaconApp, @unchecked Sendable {
    private var attempts = 0

    override func start() {
        attempts += 1
        log.note("attempt \(attempts)")
        guard attempts < 3 else { return manager.startMonitoring(for: region) }
        DispatchQueue.main.async {
            _ = Timer.scheduledTimer(withTimeInterval: 5, repeats: false) { [weak self] _ in self?.start() }
        }
    }

    override func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { log.note("enter") }
}

/// A request for one report, with a time-out, as an asynchronous function.
final class SingleReport: BeaconApp, @unchecked Sendable {
    private var continuation: CheckedContinuation<Int, any Error>?

    struct TimedOut: Error {}

    override func start() {
        Task { @MainActor in
            for _ in 0..<2 {
                do { log.note("found \(try await report(within: 8))") } catch { log.note("timed out") }
            }
        }
    }

    @MainActor
    private func report(within limit: TimeInterval) async throws -> Int {
        manager.startRangingBeacons(satisfying: constraint)
        return try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            DispatchQueue.main.asyncAfter(deadline: .now() + limit) { [weak self] in
                self?.finish(.failure(TimedOut()))
            }
        }
    }

    private func finish(_ result: Result<Int, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        if !beacons.isEmpty { finish(.success(beacons.count)) }
    }
}

/// A scan that a timer of a dispatch source ends, on a queue of its own, if nothing is found.
final class TimedScan: BeaconApp, @unchecked Sendable {
    // Unchecked: guarded by the queue.
    private var timer: (any DispatchSourceTimer)?
    private let queue = DispatchQueue(label: "scan")

    override func start() {
        manager.startRangingBeacons(satisfying: constraint)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 10)
        timer.setEventHandler { [weak self] in self?.finish("nothing found") }
        queue.sync { self.timer = timer }
        timer.resume()
    }

    private func finish(_ result: String) {
        guard let timer else { return }
        timer.cancel()
        self.timer = nil
        log.note(result)
        DispatchQueue.main.async { [self] in manager.stopRangingBeacons(satisfying: constraint) }
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard !beacons.isEmpty else { return }
        queue.async { [self] in finish("found") }
    }
}

/// A value that is shown once it has not changed for two seconds.
final class DebouncedProximity: BeaconApp, @unchecked Sendable {
    private let proximity = PassthroughSubject<Int, Never>()
    private var subscription: AnyCancellable?

    override func start() {
        subscription = proximity.removeDuplicates()
            .debounce(for: .seconds(2), scheduler: DispatchQueue.main)
            .sink { [log] in log.note("proximity \($0)") }
        manager.startRangingBeacons(satisfying: constraint)
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        if let first = beacons.first { proximity.send(first.proximity.rawValue) }
    }
}

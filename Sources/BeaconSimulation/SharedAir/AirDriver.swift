package import BeaconModel
package import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of a device in the shared air.
package final class AirDriver: ReceiverDriver, Advertiser {
    /// The time between readings while ranging, in nanoseconds. Adverts in between are delivered together, each with
    /// its own time, so that a process wakes at most ten times a second.
    private static let readingInterval = Timestamp.nanosecondsPerSecond / 10

    /// The time between two attempts to join an air after its folder was removed, in nanoseconds.
    private static let retryInterval = Timestamp.nanosecondsPerSecond

    package let name: String

    private var location: AirLocation
    private let runtime: String?
    /// Nil while the air's folder cannot be used.
    private var station: AirStation?
    private var mode = ScanMode.off
    private var rotation: Duration?
    private var adverts: [OutgoingAdvert] = []
    private var unanswered: [OutgoingAdvert] = []
    private var isModeNew = false
    private var areAdvertsNew = false
    /// The time of the next attempt to send failed adverts; nil if none has failed.
    private var nextAttempt: Timestamp?
    private var nextReading = Timestamp.zero
    private var reportedMissed = 0

    /// Joins an air.
    ///
    /// - Parameter runtime: the user's runtime folder.
    /// - Throws: an error if the air's folder cannot be used.
    package init(
        _ location: AirLocation, runtime: String? = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    ) throws(RadioError) {
        self.location = location
        self.runtime = runtime
        name = location.name == AirLocation.defaultName ? "air" : "air:\(location.name)"
        station = try AirStation(
            location, in: AirFolder(name: location.name, runtime: runtime),
            at: RadioClock.sinceStart(RadioClock.now()))
    }

    package func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {
        if let station { body(station.descriptor, Int16(POLLIN)) }
    }

    // It recovers without help, usually within a short time.
    package var state: RadioState { station == nil ? .resetting : .poweredOn }

    package var deadline: Timestamp {
        guard let station, !isModeNew, !areAdvertsNew else { return nextReading }
        let update = min(RadioClock.time(sinceStart: station.nextUpdate), nextAttempt ?? Timestamp(nanoseconds: .max))
        return isRanging && station.nextAdvert != nil ? min(nextReading, update) : update
    }

    private var isRanging: Bool { mode == .ranging || mode == .discovery }

    package func scan(_ mode: ScanMode) {
        self.mode = mode
        isModeNew = true
        nextReading = .zero
    }

    package func advertise(_ adverts: [OutgoingAdvert]) {
        // Each advert of each call has an outcome, even if a later call replaces an earlier one.
        unanswered = adverts
        self.adverts = adverts
        areAdvertsNew = true
        nextReading = .zero
    }

    package func rotateAddresses(every rotation: Duration?) {
        self.rotation = rotation
        station?.rotateAddresses(every: rotation?.clampedNanoseconds)
    }

    package func process(at now: Timestamp, into batch: inout AdvertBatch) throws {
        let time = RadioClock.sinceStart(now)
        guard let station = station ?? join(at: now, &batch) else {
            nextReading = now.advanced(by: Self.retryInterval)
            return
        }
        // Adverts that were sent before a change must be heard in the state before it.
        try hear(station, until: time, &batch)
        station.update(at: time)
        if isModeNew {
            isModeNew = false
            station.listen(mode != .off, at: time)
        }
        if areAdvertsNew || nextAttempt.map({ $0 <= now }) ?? false { send(station, at: time, &batch) }
        if station.missed > reportedMissed {
            batch.report(
                .notice(
                    RadioNotice(
                        .degraded, adapter: name,
                        "\(station.missed - reportedMissed) adverts were missed because this process did not run")))
            reportedMissed = station.missed
        }
        if !station.isThere {
            location.point = station.place(at: time)
            self.station = nil
            batch.report(
                .notice(
                    RadioNotice(
                        .adapterLost, adapter: name,
                        "the folder of this air was removed; it will be created again as soon as possible")))
        }
        nextReading = now.advanced(by: Self.readingInterval)
    }

    /// Joins the air again.
    private func join(at now: Timestamp, _ batch: inout AdvertBatch) -> AirStation? {
        guard
            let folder = try? AirFolder(name: location.name, runtime: runtime),
            let new = try? AirStation(location, in: folder, at: RadioClock.sinceStart(now))
        else { return nil }
        new.rotateAddresses(every: rotation?.clampedNanoseconds)
        station = new
        reportedMissed = 0
        (isModeNew, areAdvertsNew) = (true, true)
        batch.report(.notice(RadioNotice(.adapterUsed, adapter: name, "joined the air again")))
        return new
    }

    private func send(_ station: AirStation, at time: Int64, _ batch: inout AdvertBatch) {
        areAdvertsNew = false
        defer { unanswered = [] }
        do throws(RadioError) {
            try station.send(adverts, at: time)
            // Adverts that failed before and are sent now get another outcome.
            for advert in nextAttempt == nil ? unanswered : adverts { batch.report(.advertising(advert, .success(()))) }
            nextAttempt = nil
        } catch {
            // Tried again each second, but reported only once.
            for advert in unanswered { batch.report(.advertising(advert, .failure(error))) }
            nextAttempt = RadioClock.time(sinceStart: time + Self.retryInterval)
        }
    }

    private func hear(_ station: AirStation, until time: Int64, _ batch: inout AdvertBatch) throws {
        let receiver = batch.firstReceiver
        try station.hear(until: time) { heard, advert in
            let reception = Reception(
                time: RadioClock.time(sinceStart: heard.time), receiver: receiver, report: heard.report)
            // Adverts that match no request stay in the radio, as with a filter in the kernel.
            if case .monitoring(let uuids) = mode {
                guard let frame = IBeaconFrame(advert: advert), uuids.contains(frame.identity.uuid) else { return }
            }
            // Only active scans receive scan responses.
            if heard.report.kind == .scanResponse, mode != .discovery { return }
            batch.hear(reception, advert)
        }
    }

    package func close() { station = nil }
}

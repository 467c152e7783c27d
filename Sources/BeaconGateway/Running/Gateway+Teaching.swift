package import BeaconModel
import BeaconMonitoring

// Teaching a place. One teaching runs at a time, and changes nothing until it is kept.

extension Gateway {
    /// The reason why a teaching cannot start or be kept.
    package enum TeachingFailure: Error {
        /// Another one runs, for the place with this name.
        case busy(String)
        /// The place cannot have this name, with the reason.
        case badName(String)
        case inFleet
        case tooManyClients
        case noPoints
        case notRunning
        case nothingKept
    }

    /// Starts a teaching.
    package func teach(_ place: String, with beacon: BeaconIdentity) throws(TeachingFailure) -> TeachingValue {
        if let teaching { throw .busy(teaching.place) }
        guard fleet == nil else { throw .inFleet }
        if let fault = (try? PlaceTeaching(name: place, walks: []).item())?.fault { throw .badName(fault) }
        guard let ranging = range(.constraints([BeaconConstraint(beacon)])) else { throw .tooManyClients }
        let new = Teaching(place, beacon, calibrations: configuration.calibrations, ranging: ranging)
        teaching = new
        return new.value(receiverValues)
    }

    /// Returns the values of the running teaching; nil if no teaching is running.
    package func watchTeaching() -> AsyncStream<TeachingValue?>? {
        teaching?.stream(receiverValues) { number in Task { await self.leaveTeaching(number) } }
    }

    private func leaveTeaching(_ number: Int) { teaching?.leave(number) }

    /// Ends the teaching.
    ///
    /// - Returns: false if none runs.
    @discardableResult
    package func endTeaching() -> Bool {
        guard let ended = teaching else { return false }
        teaching = nil
        ended.finish()
        return true
    }

    /// Returns the change of items that keeps the running teaching. No other request can keep it until
    /// ``continueTeaching()``.
    package func keptTeaching() throws -> ItemChange {
        guard let teaching, !teaching.isBeingKept else { throw TeachingFailure.notRunning }
        let points = teaching.finished(receiverValues)
        guard !points.isEmpty else { throw TeachingFailure.noPoints }
        self.teaching?.isBeingKept = true
        let walk = PlaceTeaching.Walk(time: newestTime.seconds, points: points)
        guard var known = kept(teaching.place) else {
            return .add(try PlaceTeaching(name: teaching.place, walks: [walk]).item())
        }
        known.add(walk)
        return .replace(known.name, by: try known.item())
    }

    /// Continues a teaching that could not be kept.
    package func continueTeaching() { teaching?.isBeingKept = false }

    /// The change of items that undoes the teaching that was kept last.
    package func undoneTeaching() throws -> ItemChange {
        guard let (name, _) = TaughtValue.last(of: configuration.teachings), var known = kept(name) else {
            throw TeachingFailure.nothingKept
        }
        known.walks.removeLast()
        return known.walks.isEmpty ? .remove(.taught, name) : .replace(name, by: try known.item())
    }

    private func kept(_ place: String) -> PlaceTeaching? { configuration.teachings.first { $0.name == place } }

    package var taughtValue: TaughtValue { TaughtValue(configuration) }
}

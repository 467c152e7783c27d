/// Why a region cannot be monitored.
public enum MonitoringFailure: Error, Hashable, Sendable {
    /// The application monitors as many regions as it may.
    case limitExceeded
    /// The application may not know of beacons.
    case denied
}

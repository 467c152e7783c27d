/// An error of Core Location.
///
/// It has the same shape as an error that Swift imports from Apple's SDK: `CLError(.denied)`, `catch CLError.denied`,
/// `(error as? CLError)?.code` and `(error as NSError).code` all work. A plain `NSError(domain: kCLErrorDomain, code:
/// 1) as? CLError` succeeds only on Apple's systems; on Linux it is nil. So every error that these modules return is a
/// `CLError`.
public struct CLError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from Foundation's.
    ///
    /// - Precondition: its domain is ``kCLErrorDomain``.
    public init(_nsError: NSError) {
        precondition(_nsError.domain == kCLErrorDomain, "a CLError has the domain \(kCLErrorDomain)")
        self._nsError = _nsError
    }

    /// ``kCLErrorDomain``
    public static var _nsErrorDomain: String { kCLErrorDomain }

    /// ``kCLErrorDomain``
    public static var errorDomain: String { kCLErrorDomain }

    /// Hashes the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CLError {
    /// A region that the system can monitor sooner than the requested one. Always nil here.
    public var alternateRegion: CLRegion? { userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion }
}

extension CLError {
    /// The codes of Core Location's errors, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type with these codes.
        public typealias _ErrorType = CLError

        /// The location is unknown at present; it may be known later.
        case locationUnknown = 0

        /// The app may not use location services.
        case denied = 1

        /// The network could not be reached.
        case network = 2

        /// The heading is unknown.
        case headingFailure = 3

        /// The app may not monitor regions.
        case regionMonitoringDenied = 4

        /// The region cannot be monitored: there are too many, or it is too large.
        case regionMonitoringFailure = 5

        /// Monitoring could not be set up at once.
        case regionMonitoringSetupDelayed = 6

        /// Events may be delayed.
        case regionMonitoringResponseDelayed = 7

        /// Geocoding found no result.
        case geocodeFoundNoResult = 8

        /// Geocoding found only a partial result.
        case geocodeFoundPartialResult = 9

        /// Geocoding was cancelled.
        case geocodeCanceled = 10

        /// Deferred delivery failed.
        case deferredFailed = 11

        /// Deferred delivery requires running location updates.
        case deferredNotUpdatingLocation = 12

        /// Deferred delivery requires a higher accuracy.
        case deferredAccuracyTooLow = 13

        /// Deferred delivery does not allow a distance filter.
        case deferredDistanceFiltered = 14

        /// Deferred delivery was cancelled.
        case deferredCanceled = 15

        /// Ranging is unavailable: for example, Bluetooth or location services are off.
        case rangingUnavailable = 16

        /// Ranging failed for another reason.
        case rangingFailure = 17

        /// The user declined a temporary request.
        case promptDeclined = 18

        /// The location at an earlier time is unknown.
        case historicalLocationError = 19
    }
}

// Each code again as a static member, so that `catch CLError.denied` works as with Apple's SDK.
public extension CLError {
    static var locationUnknown: CLError.Code { .locationUnknown }
    static var denied: CLError.Code { .denied }
    static var network: CLError.Code { .network }
    static var headingFailure: CLError.Code { .headingFailure }
    static var regionMonitoringDenied: CLError.Code { .regionMonitoringDenied }
    static var regionMonitoringFailure: CLError.Code { .regionMonitoringFailure }
    static var regionMonitoringSetupDelayed: CLError.Code { .regionMonitoringSetupDelayed }
    static var regionMonitoringResponseDelayed: CLError.Code { .regionMonitoringResponseDelayed }
    static var geocodeFoundNoResult: CLError.Code { .geocodeFoundNoResult }
    static var geocodeFoundPartialResult: CLError.Code { .geocodeFoundPartialResult }
    static var geocodeCanceled: CLError.Code { .geocodeCanceled }
    static var deferredFailed: CLError.Code { .deferredFailed }
    static var deferredNotUpdatingLocation: CLError.Code { .deferredNotUpdatingLocation }
    static var deferredAccuracyTooLow: CLError.Code { .deferredAccuracyTooLow }
    static var deferredDistanceFiltered: CLError.Code { .deferredDistanceFiltered }
    static var deferredCanceled: CLError.Code { .deferredCanceled }
    static var rangingUnavailable: CLError.Code { .rangingUnavailable }
    static var rangingFailure: CLError.Code { .rangingFailure }
    static var promptDeclined: CLError.Code { .promptDeclined }
    static var historicalLocationError: CLError.Code { .historicalLocationError }
}

/// The domain of Core Location's errors. Apple's logs show the value, which is the same as the constant's name.
public let kCLErrorDomain = "kCLErrorDomain"

/// The key for the region in an error's `userInfo`; see ``CLError/alternateRegion``.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

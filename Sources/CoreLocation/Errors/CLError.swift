/// An error of Core Location.
///
/// It has the shape of an error that Swift imports from Apple's SDK: `CLError(.denied)`, `catch CLError.denied`,
/// `(error as? CLError)?.code` and `(error as NSError).code` all work. Only on Apple's systems does a bare
/// `NSError(domain: kCLErrorDomain, code: 1) as? CLError` succeed; on Linux it is nil, so every error that these
/// modules hand out is a `CLError`.
public struct CLError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from the one that Foundation stores.
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

    /// Feeds the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CLError {
    /// A region that the system can monitor sooner than the one asked for. Nothing here offers any.
    public var alternateRegion: CLRegion? { userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion }
}

extension CLError {
    /// The codes of Core Location's errors, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = CLError

        /// The place is not known now; it may be later.
        case locationUnknown = 0

        /// The app may not use location services.
        case denied = 1

        /// The network could not be reached.
        case network = 2

        /// The heading is not known.
        case headingFailure = 3

        /// The app may not monitor regions.
        case regionMonitoringDenied = 4

        /// The region cannot be monitored: there are too many, or it is too large.
        case regionMonitoringFailure = 5

        /// Monitoring could not be set up at once.
        case regionMonitoringSetupDelayed = 6

        /// Events may come late.
        case regionMonitoringResponseDelayed = 7

        /// Geocoding found nothing.
        case geocodeFoundNoResult = 8

        /// Geocoding found less than was asked for.
        case geocodeFoundPartialResult = 9

        /// Geocoding was cancelled.
        case geocodeCanceled = 10

        /// Deferred delivery failed.
        case deferredFailed = 11

        /// Deferred delivery needs location updates to run.
        case deferredNotUpdatingLocation = 12

        /// Deferred delivery needs a higher accuracy.
        case deferredAccuracyTooLow = 13

        /// Deferred delivery allows no distance filter.
        case deferredDistanceFiltered = 14

        /// Deferred delivery was cancelled.
        case deferredCanceled = 15

        /// Ranging is off, as Bluetooth or location services are.
        case rangingUnavailable = 16

        /// Ranging failed in another way.
        case rangingFailure = 17

        /// The user declined what was asked for a while.
        case promptDeclined = 18

        /// The place at an earlier time is not known.
        case historicalLocationError = 19
    }
}

// Each code once more by its own name, so that `catch CLError.denied` reads as it does with Apple's SDK.
extension CLError {
    /// The place is not known now; it may be later.
    public static var locationUnknown: CLError.Code { .locationUnknown }

    /// The app may not use location services.
    public static var denied: CLError.Code { .denied }

    /// The network could not be reached.
    public static var network: CLError.Code { .network }

    /// The heading is not known.
    public static var headingFailure: CLError.Code { .headingFailure }

    /// The app may not monitor regions.
    public static var regionMonitoringDenied: CLError.Code { .regionMonitoringDenied }

    /// The region cannot be monitored: there are too many, or it is too large.
    public static var regionMonitoringFailure: CLError.Code { .regionMonitoringFailure }

    /// Monitoring could not be set up at once.
    public static var regionMonitoringSetupDelayed: CLError.Code { .regionMonitoringSetupDelayed }

    /// Events may come late.
    public static var regionMonitoringResponseDelayed: CLError.Code { .regionMonitoringResponseDelayed }

    /// Geocoding found nothing.
    public static var geocodeFoundNoResult: CLError.Code { .geocodeFoundNoResult }

    /// Geocoding found less than was asked for.
    public static var geocodeFoundPartialResult: CLError.Code { .geocodeFoundPartialResult }

    /// Geocoding was cancelled.
    public static var geocodeCanceled: CLError.Code { .geocodeCanceled }

    /// Deferred delivery failed.
    public static var deferredFailed: CLError.Code { .deferredFailed }

    /// Deferred delivery needs location updates to run.
    public static var deferredNotUpdatingLocation: CLError.Code { .deferredNotUpdatingLocation }

    /// Deferred delivery needs a higher accuracy.
    public static var deferredAccuracyTooLow: CLError.Code { .deferredAccuracyTooLow }

    /// Deferred delivery allows no distance filter.
    public static var deferredDistanceFiltered: CLError.Code { .deferredDistanceFiltered }

    /// Deferred delivery was cancelled.
    public static var deferredCanceled: CLError.Code { .deferredCanceled }

    /// Ranging is off, as Bluetooth or location services are.
    public static var rangingUnavailable: CLError.Code { .rangingUnavailable }

    /// Ranging failed in another way.
    public static var rangingFailure: CLError.Code { .rangingFailure }

    /// The user declined what was asked for a while.
    public static var promptDeclined: CLError.Code { .promptDeclined }

    /// The place at an earlier time is not known.
    public static var historicalLocationError: CLError.Code { .historicalLocationError }
}

/// The domain of Core Location's errors. Apple's logs show the value; it is the constant's own name.
public let kCLErrorDomain = "kCLErrorDomain"

/// The key in an error's `userInfo` of the region that ``CLError/alternateRegion`` reads.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

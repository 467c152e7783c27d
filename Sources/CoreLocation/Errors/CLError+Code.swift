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

        /// No heading can be told.
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

        /// Deferred delivery goes with no distance filter.
        case deferredDistanceFiltered = 14

        /// Deferred delivery was cancelled.
        case deferredCanceled = 15

        /// Ranging is off, as Bluetooth or location services are.
        case rangingUnavailable = 16

        /// Ranging failed in another way.
        case rangingFailure = 17

        /// The user declined what was asked for a while.
        case promptDeclined = 18

        /// The place at an earlier time cannot be told.
        case historicalLocationError = 19
    }
}

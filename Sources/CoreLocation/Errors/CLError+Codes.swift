// Each code once more by its own name, so that `catch CLError.denied` reads as it does with Apple's SDK.
extension CLError {
    /// The place is not known now; it may be later.
    public static var locationUnknown: CLError.Code { .locationUnknown }

    /// The app may not use location services.
    public static var denied: CLError.Code { .denied }

    /// The network could not be reached.
    public static var network: CLError.Code { .network }

    /// No heading can be told.
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

    /// Deferred delivery goes with no distance filter.
    public static var deferredDistanceFiltered: CLError.Code { .deferredDistanceFiltered }

    /// Deferred delivery was cancelled.
    public static var deferredCanceled: CLError.Code { .deferredCanceled }

    /// Ranging is off, as Bluetooth or location services are.
    public static var rangingUnavailable: CLError.Code { .rangingUnavailable }

    /// Ranging failed in another way.
    public static var rangingFailure: CLError.Code { .rangingFailure }

    /// The user declined what was asked for a while.
    public static var promptDeclined: CLError.Code { .promptDeclined }

    /// The place at an earlier time cannot be told.
    public static var historicalLocationError: CLError.Code { .historicalLocationError }
}

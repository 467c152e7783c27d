internal import BeaconMonitoring
internal import BeaconSupport
import Foundation

/// The answer to a geocoding request: placemarks, or an error.
public typealias CLGeocodeCompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void

/// A converter between coordinates and the names of places.
///
/// The conversion is a service of Apple that is not reachable from here. Every request fails with `CLError.network`, or
/// with `CLError.geocodeCanceled` if it was cancelled first. An empty request fails with
/// `CLError.geocodeFoundNoResult`. Handlers are called on the main queue, as on Apple's systems.
open class CLGeocoder: NSObject, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. The stored property is behind a lock.

    private struct Requests {
        var next = 0
        /// The requests without an answer.
        var open: Set<Int> = []
    }

    private let requests = Locked(Requests())

    /// Creates a geocoder.
    public override init() { super.init() }

    /// A Boolean value indicating whether a request is pending.
    open var isGeocoding: Bool { requests.withLock { !$0.open.isEmpty } }

    /// Requests the names of a place.
    open func reverseGeocodeLocation(
        _ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        answer(isEmpty: !CLLocationCoordinate2DIsValid(location.coordinate), completionHandler)
    }

    /// Requests the names of a place in a language.
    open func reverseGeocodeLocation(
        _ location: CLLocation, preferredLocale locale: Locale?,
        completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        reverseGeocodeLocation(location, completionHandler: completionHandler)
    }

    /// Requests the places of an address.
    @available(*, deprecated, renamed: "geocodeAddressString(_:completionHandler:)")
    open func geocodeAddressDictionary(
        _ addressDictionary: [AnyHashable: Any], completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        answer(isEmpty: addressDictionary.isEmpty, completionHandler)
    }

    /// Requests the places of an address.
    open func geocodeAddressString(
        _ addressString: String, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        answer(isEmpty: addressString.allSatisfy(\.isWhitespace), completionHandler)
    }

    /// Requests the places of an address, preferring those in a region.
    open func geocodeAddressString(
        _ addressString: String, in region: CLRegion?, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        geocodeAddressString(addressString, completionHandler: completionHandler)
    }

    /// Requests the places of an address in a language, preferring those in a region.
    open func geocodeAddressString(
        _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?,
        completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        geocodeAddressString(addressString, completionHandler: completionHandler)
    }

    /// Cancels pending requests, which fail with `CLError.geocodeCanceled`.
    open func cancelGeocode() { requests.withLock { $0.open = [] } }

    private func answer(isEmpty: Bool, _ handler: @escaping CLGeocodeCompletionHandler) {
        let number = requests.withLock { requests in
            requests.next += 1
            requests.open.insert(requests.next)
            return requests.next
        }
        // The app's own closure, which only the main queue calls.
        let sent = UnsafeTransfer(handler)
        DispatchQueue.main.async { [self] in
            let isWanted = requests.withLock { $0.open.remove(number) != nil }
            let code: CLError.Code = isEmpty ? .geocodeFoundNoResult : .network
            sent.value(nil, CLError(isWanted ? code : .geocodeCanceled))
        }
    }
}

extension CLGeocoder {
    /// Returns the names of a place.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    public func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
        try await placemarks { reverseGeocodeLocation(location, completionHandler: $0) }
    }

    /// Returns the names of a place in a language.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    public func reverseGeocodeLocation(
        _ location: CLLocation, preferredLocale locale: Locale?
    ) async throws -> [CLPlacemark] {
        try await reverseGeocodeLocation(location)
    }

    /// Returns the places of an address.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    public func geocodeAddressString(_ addressString: String) async throws -> [CLPlacemark] {
        try await placemarks { geocodeAddressString(addressString, completionHandler: $0) }
    }

    /// Returns the places of an address, preferring those in a region.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    public func geocodeAddressString(_ addressString: String, in region: CLRegion?) async throws -> [CLPlacemark] {
        try await geocodeAddressString(addressString)
    }

    /// Returns the places of an address in a language, preferring those in a region.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    public func geocodeAddressString(
        _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?
    ) async throws -> [CLPlacemark] {
        try await geocodeAddressString(addressString)
    }

    /// Returns the places of an address.
    ///
    /// - Throws: `CLError`, as the form with a handler.
    @available(*, deprecated, renamed: "geocodeAddressString(_:)")
    public func geocodeAddressDictionary(_ addressDictionary: [AnyHashable: Any]) async throws -> [CLPlacemark] {
        try await placemarks { geocodeAddressDictionary(addressDictionary, completionHandler: $0) }
    }

    private func placemarks(
        _ ask: (@escaping CLGeocodeCompletionHandler) -> Void
    ) async throws -> [CLPlacemark] {
        try await withCheckedThrowingContinuation { continuation in
            ask { placemarks, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(placemarks ?? []))
            }
        }
    }
}

import BeaconSupport
import CoreLocation
import Testing

@Suite("Geocoder")
@MainActor
struct CLGeocoderTests {
    private let place = CLLocation(latitude: 52.5, longitude: 13.4)

    /// Collects the results that handlers receive.
    private final class Answers: Sendable {
        private let codes = Locked<[Int]>([])
        private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

        var all: [Int] { codes.withLock { $0 } }

        func note(_ placemarks: [CLPlacemark]?, _ error: (any Error)?) {
            let code = placemarks == nil ? (error as? CLError)?.code.rawValue ?? -1 : -2
            codes.withLock { $0.append(code) }
            continuation.yield()
        }

        func wait(for count: Int) async {
            var iterator = stream.makeAsyncIterator()
            for _ in 0..<count { _ = await iterator.next() }
        }
    }

    @Test("Every form of request fails without a service, after the call, on the main queue (C3)")
    func handlers() async {
        let geocoder = CLGeocoder()
        let answers = Answers()
        let handler: CLGeocodeCompletionHandler = { placemarks, error in
            dispatchPrecondition(condition: .onQueue(.main))
            answers.note(placemarks, error)
        }
        geocoder.reverseGeocodeLocation(place, completionHandler: handler)
        #expect(geocoder.isGeocoding)
        #expect(answers.all == [])
        geocoder.reverseGeocodeLocation(place, preferredLocale: nil, completionHandler: handler)
        geocoder.geocodeAddressString("Unter den Linden 1", completionHandler: handler)
        geocoder.geocodeAddressString("Unter den Linden 1", in: nil, completionHandler: handler)
        geocoder.geocodeAddressString("Unter den Linden 1", in: nil, preferredLocale: nil, completionHandler: handler)
        geocoder.geocodeAddressString(" ", completionHandler: handler)
        await answers.wait(for: 6)
        #expect(answers.all == [2, 2, 2, 2, 2, 8])
        #expect(!geocoder.isGeocoding)
    }

    @Test("A cancelled request fails as cancelled (C3)")
    func cancelled() async {
        let geocoder = CLGeocoder()
        let answers = Answers()
        geocoder.geocodeAddressString("Berlin") { answers.note($0, $1) }
        geocoder.cancelGeocode()
        #expect(!geocoder.isGeocoding)
        geocoder.geocodeAddressString("Berlin") { answers.note($0, $1) }
        await answers.wait(for: 2)
        #expect(answers.all == [10, 2])
    }

    @Test("The asynchronous forms throw the same errors (C3)")
    func waiting() async {
        let geocoder = CLGeocoder()
        await #expect(throws: CLError(.network)) { try await geocoder.reverseGeocodeLocation(place) }
        await #expect(throws: CLError(.network)) { try await geocoder.geocodeAddressString("Berlin", in: nil) }
        await #expect(throws: CLError(.geocodeFoundNoResult)) { try await geocoder.geocodeAddressString("") }
    }

    @Test("A custom placemark has the names that it overrides (C3)")
    func placemarks() throws {
        final class Museum: CLPlacemark, @unchecked Sendable {
            override var name: String? { "Museum" }
        }
        let museum = Museum()
        #expect(museum.name == "Museum")
        #expect(museum.locality == nil && museum.location == nil && museum.areasOfInterest == nil)
        #expect(museum.copy() as? CLPlacemark === museum)
        #expect(try archived(CLPlacemark(placemark: museum)).name == nil)
    }
}

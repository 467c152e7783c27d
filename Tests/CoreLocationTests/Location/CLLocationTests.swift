import CoreLocation
import Testing

@Suite struct CLLocationTests {
    private let munich = CLLocationCoordinate2D(latitude: 48.137154, longitude: 11.576124)

    @Test("Unspecified values are unknown")
    func unspecifiedValuesAreUnknown() {
        let place = CLLocation(latitude: 1, longitude: 2)
        #expect(place.coordinate.latitude == 1)
        #expect(place.coordinate.longitude == 2)
        #expect(place.altitude == 0)
        #expect(place.horizontalAccuracy == 0)
        #expect(place.verticalAccuracy == -1)
        #expect(place.speed == -1 && place.speedAccuracy == -1)
        #expect(place.course == -1 && place.courseAccuracy == -1)
        #expect(place.floor == nil)
        #expect(place.sourceInformation == nil)
        #expect(abs(place.timestamp.timeIntervalSinceNow) < 60)
    }

    @Test("A location without values is at latitude and longitude 0")
    func noValues() {
        let place = CLLocation()
        #expect(place.coordinate.latitude == 0 && place.coordinate.longitude == 0)
        #expect(place.verticalAccuracy == -1 && place.speed == -1 && place.course == -1)
        #expect(place.distance(from: CLLocation(latitude: 0, longitude: 0)) == 0)
    }

    @Test("The distance is along the ground")
    func distanceIsAlongTheGround() {
        let here = CLLocation(latitude: munich.latitude, longitude: munich.longitude)
        let berlin = CLLocation(latitude: 52.520008, longitude: 13.404954)
        #expect(here.distance(from: here) == 0)
        #expect(abs(here.distance(from: berlin) - 504_000) < 3_000)
        #expect(here.distance(from: berlin) == berlin.distance(from: here))
        let antipode = CLLocation(latitude: -munich.latitude, longitude: munich.longitude - 180)
        #expect(abs(here.distance(from: antipode) - 20_015_000) < 1_000)
    }

    @Test("A location can be archived")
    func archives() throws {
        let place = CLLocation(
            coordinate: munich, altitude: 520, horizontalAccuracy: 5, verticalAccuracy: 3, course: 90,
            courseAccuracy: 2, speed: 1.5, speedAccuracy: 0.5, timestamp: Date(timeIntervalSince1970: 1_000),
            sourceInfo: CLLocationSourceInformation(
                softwareSimulationState: true, andExternalAccessoryState: false))
        let read = try archived(place)
        #expect(read.coordinate.latitude == munich.latitude)
        #expect(read.coordinate.longitude == munich.longitude)
        #expect(
            [
                read.altitude, read.horizontalAccuracy, read.verticalAccuracy, read.course, read.courseAccuracy,
                read.speed, read.speedAccuracy,
            ] == [520, 5, 3, 90, 2, 1.5, 0.5])
        #expect(read.timestamp == place.timestamp)
        #expect(read.sourceInformation?.isSimulatedBySoftware == true)
        #expect(read.sourceInformation?.isProducedByAccessory == false)
        #expect(place.copy() as? CLLocation === place)
    }

    @Test("Coordinates are valid within their ranges")
    func validCoordinates() {
        #expect(CLLocationCoordinate2DIsValid(munich))
        #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(-90, 180)))
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: 91, longitude: 0)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: .nan, longitude: 0)))
        #expect(CLLocationCoordinate2D().latitude == 0)
    }

    @Test("No heading and no visit is invented")
    func nothingIsInvented() {
        #expect(CLHeading().magneticHeading == -1)
        #expect(CLHeading().trueHeading == -1)
        #expect(CLHeading().headingAccuracy == -1)
        #expect(!CLLocationCoordinate2DIsValid(CLVisit().coordinate))
        #expect(CLVisit().horizontalAccuracy == -1)
        #expect(CLVisit().departureDate == .distantFuture)
        #expect(CLFloor().level == 0)
    }

    @Test("A test double overrides individual properties")
    func testDoublesOverrideProperties() {
        final class Mock: CLLocation, @unchecked Sendable {
            override var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: 5, longitude: 6) }
        }
        let mock: CLLocation = Mock(latitude: 0, longitude: 0)
        #expect(mock.coordinate.latitude == 5)
    }
}

// Apps add these conformances to Apple's type, which has neither, so this module must not declare them.
extension CLLocationCoordinate2D: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.latitude == right.latitude && left.longitude == right.longitude
    }
}

extension CLLocationCoordinate2D: Codable {
    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        self.init(latitude: try values.decode(Double.self), longitude: try values.decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(latitude)
        try values.encode(longitude)
    }
}

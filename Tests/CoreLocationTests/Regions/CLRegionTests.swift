import CoreLocation
import Testing

@Suite struct CLRegionTests {
    @Test("A region reports entry and exit by default")
    func defaults() {
        let region = CLBeaconRegion(uuid: deployment, identifier: "shop")
        #expect(region.identifier == "shop")
        #expect(region.notifyOnEntry)
        #expect(region.notifyOnExit)
        #expect(!region.notifyEntryStateOnDisplay)
    }

    @Test("Regions of a kind are equal if their identifiers are")
    func equalByIdentifierWithinAKind() {
        let one = CLBeaconRegion(uuid: deployment, identifier: "a")
        let other = CLBeaconRegion(uuid: UUID(), major: 1, minor: 2, identifier: "a")
        let third = CLBeaconRegion(uuid: deployment, identifier: "b")
        let disc = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 3, identifier: "a")
        #expect(one == other)
        #expect(one.hash == other.hash)
        #expect(one != third)
        #expect(one as CLRegion != disc as CLRegion)
        #expect(!one.isEqual("a"))
        #expect(!one.isEqual(nil))
        #expect(Set<CLRegion>([one, other, third, disc]).count == 3)
    }

    @Test("Subclasses are of their superclass's kind")
    func subclassesAreOfTheirParentsKind() {
        final class Shop: CLBeaconRegion, @unchecked Sendable {}
        let shop = Shop(uuid: deployment, identifier: "a")
        #expect(shop == CLBeaconRegion(uuid: deployment, identifier: "a"))
        #expect(CLBeaconRegion(uuid: deployment, identifier: "a") == shop)
    }

    @Test("A copy is independent")
    func copiesAreIndependent() throws {
        let region = CLBeaconRegion(uuid: deployment, major: 1, minor: 2, identifier: "a")
        region.notifyOnEntry = false
        region.notifyEntryStateOnDisplay = true
        let copy = try #require(region.copy() as? CLBeaconRegion)
        #expect(copy !== region)
        #expect(copy == region)
        #expect(copy.beaconIdentityConstraint == region.beaconIdentityConstraint)
        #expect(!copy.notifyOnEntry)
        #expect(copy.notifyOnExit)
        #expect(copy.notifyEntryStateOnDisplay)
        copy.notifyOnExit = false
        #expect(region.notifyOnExit)
    }

    @Test("A circular region contains the places within its radius")
    func circularRegion() throws {
        let center = CLLocationCoordinate2D(latitude: 48, longitude: 11)
        let region = CLCircularRegion(center: center, radius: 100, identifier: "square")
        #expect(region.center.latitude == 48)
        #expect(region.center.longitude == 11)
        #expect(region.radius == 100)
        #expect(region.contains(CLLocationCoordinate2D(latitude: 48.0008, longitude: 11)))
        #expect(!region.contains(CLLocationCoordinate2D(latitude: 48.001, longitude: 11)))
        let copy = try #require(region.copy() as? CLCircularRegion)
        #expect(copy.radius == 100)
        #expect(copy == region)
        #expect(region.description.hasPrefix("CLCircularRegion (identifier:'square', center:<+48.00000000,"))
    }

    @Test("Regions can be archived")
    func archives() throws {
        let region = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 1.5, longitude: -2.5), radius: 3.5, identifier: "disc")
        region.notifyOnExit = false
        let read = try archived(region)
        #expect(read == region)
        #expect(read.center.latitude == 1.5)
        #expect(read.center.longitude == -2.5)
        #expect(read.radius == 3.5)
        #expect(read.notifyOnEntry)
        #expect(!read.notifyOnExit)
    }

    @Test("A plain region has no identifier")
    func aPlainRegionIsEmpty() {
        let region = CLRegion()
        #expect(region.identifier == "")
        #expect(region.description == "CLRegion (identifier:'')")
    }
}

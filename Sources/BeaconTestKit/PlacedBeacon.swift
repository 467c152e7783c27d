/// A beacon in the air.
public struct PlacedBeacon: Sendable {
    let number: Int
    let air: SimulatedAir

    /// Moves the beacon to another position, at once.
    public func move(to position: Position) { air.change(self) { $0.beacon.position = position } }

    /// Moves the beacon to a distance in meters from the origin, where the device under test starts.
    public func move(toDistance meters: Double) { move(to: .distance(meters)) }

    /// Changes the beacon's address, as phones do every few minutes.
    public func changeAddress() { air.changeAddress(of: self) }

    /// Sets the beacon's advertising interval.
    public func advertise(every interval: Duration) { air.change(self) { $0.beacon.interval = interval } }

    /// Removes the beacon from the air.
    public func remove() { air.remove(self) }
}

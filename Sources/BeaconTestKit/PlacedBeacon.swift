/// A beacon that is in the air.
public struct PlacedBeacon: Sendable {
    let number: Int
    let air: SimulatedAir

    /// Carries the beacon to another place, at once.
    public func move(to position: Position) { air.change(self) { $0.beacon.position = position } }

    /// Carries the beacon so many metres away from the origin, where the device under test is at first.
    public func move(toDistance metres: Double) { move(to: .distance(metres)) }

    /// Has the beacon advertise from another address from now on, as phones do every few minutes.
    public func changeAddress() { air.changeAddress(of: self) }

    /// Has the beacon advertise this rarely from now on.
    public func advertise(every interval: Duration) { air.change(self) { $0.beacon.interval = interval } }

    /// Takes the beacon out of the air.
    public func remove() { air.remove(self) }
}

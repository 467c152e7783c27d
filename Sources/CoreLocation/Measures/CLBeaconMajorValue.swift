/// A beacon's major value: the group within a deployment, a shop for instance.
///
/// `CLBeaconMajorValue(beacon.major)` reads it out of an `NSNumber`.
public typealias CLBeaconMajorValue = UInt16

/// A beacon's minor value: the beacon within its group.
public typealias CLBeaconMinorValue = UInt16

/// What a ``CLMonitor`` can watch.
///
/// As in Apple's SDK there is nothing in it but the ability to be stored. A monitor knows the conditions nested in it; any
/// other is reported as not supported.
public protocol CLCondition: Decodable, Encodable, Sendable {}

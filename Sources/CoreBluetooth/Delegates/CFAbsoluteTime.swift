/// Seconds since the first of January 2001.
///
/// Core Foundation's name, which Foundation does not pass on outside Apple's systems; a callback of
/// ``CBCentralManagerDelegate`` has it in its signature.
public typealias CFAbsoluteTime = CFTimeInterval

/// Core Foundation's name for seconds.
public typealias CFTimeInterval = Double

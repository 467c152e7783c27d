/// The domain of Core Location's errors. Apple's logs show the value; it is the constant's own name.
public let kCLErrorDomain = "kCLErrorDomain"

/// Where an error's `userInfo` has the region that ``CLError/alternateRegion`` reads.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

/// The direction in which the top of a device points. No heading is ever delivered here; the type exists so that
/// delegates that use it compile.
///
/// Every direction is -1, which means unknown, and the field is 0. A subclass may override the properties.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// Degrees from magnetic north.
    open var magneticHeading: CLLocationDirection { -1 }

    /// Degrees from true north; negative if unknown.
    open var trueHeading: CLLocationDirection { -1 }

    /// The possible error of ``magneticHeading``, in degrees; negative if unknown.
    open var headingAccuracy: CLLocationDirection { -1 }

    /// The magnetic field along the device's width, in microteslas.
    open var x: CLHeadingComponentValue { 0 }

    /// The magnetic field along the device's height, in microteslas.
    open var y: CLHeadingComponentValue { 0 }

    /// The magnetic field through the device, in microteslas.
    open var z: CLHeadingComponentValue { 0 }

    /// The time of the heading.
    open var timestamp: Date { .distantPast }

    /// Creates an unknown heading.
    public override init() {
        super.init()
    }

    /// Creates an unknown heading, whatever the archive contains.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes nothing, since all properties are unknown.
    open func encode(with coder: NSCoder) {}

    /// Returns the heading itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// An object that identifies a body for headings.
public protocol CLBodyIdentifiable: NSObjectProtocol {}

/// The orientation of a device, which headings refer to. It has no effect on a machine without a compass.
public enum CLDeviceOrientation: Int32, Sendable, BitwiseCopyable {
    /// Unknown.
    case unknown = 0

    /// Upright.
    case portrait = 1

    /// Upright, upside down.
    case portraitUpsideDown = 2

    /// On its side, with the top to the left.
    case landscapeLeft = 3

    /// On its side, with the top to the right.
    case landscapeRight = 4

    /// Flat, face up.
    case faceUp = 5

    /// Flat, face down.
    case faceDown = 6
}

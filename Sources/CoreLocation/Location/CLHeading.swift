/// The direction in which the top of a device points. None is ever delivered here; the type lets delegates that mention
/// it compile.
///
/// Every direction is -1, for not known, and the field is 0. A subclass may override what it needs.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// Degrees from magnetic north.
    open var magneticHeading: CLLocationDirection { -1 }

    /// Degrees from true north; negative if not known.
    open var trueHeading: CLLocationDirection { -1 }

    /// The possible error of ``magneticHeading``, in degrees; negative if it is not known.
    open var headingAccuracy: CLLocationDirection { -1 }

    /// The magnetic field along the device's width, in microteslas.
    open var x: CLHeadingComponentValue { 0 }

    /// The magnetic field along the device's height, in microteslas.
    open var y: CLHeadingComponentValue { 0 }

    /// The magnetic field through the device, in microteslas.
    open var z: CLHeadingComponentValue { 0 }

    /// The time of the heading.
    open var timestamp: Date { .distantPast }

    /// Creates a heading that is not known.
    public override init() {
        super.init()
    }

    /// Creates a heading that is not known, whatever the archive holds.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes nothing: there is nothing known to write.
    open func encode(with coder: NSCoder) {}

    /// Returns the heading itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The orientation of a device. Headings refer to it; a machine without a compass has no use for it.
public enum CLDeviceOrientation: Int32, Sendable, BitwiseCopyable {
    /// Not known.
    case unknown = 0

    /// Upright.
    case portrait = 1

    /// Upright, top down.
    case portraitUpsideDown = 2

    /// On its side, top to the left.
    case landscapeLeft = 3

    /// On its side, top to the right.
    case landscapeRight = 4

    /// Lying, face up.
    case faceUp = 5

    /// Lying, face down.
    case faceDown = 6
}

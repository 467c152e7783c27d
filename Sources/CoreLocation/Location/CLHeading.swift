/// Where the top of a device points. No heading is ever told here; the type lets delegates that mention it compile.
///
/// Every direction is -1, for not known, and the field is 0. A subclass may override what it needs.
open class CLHeading: NSObject, NSCopying, NSSecureCoding {
    /// Degrees from magnetic north.
    open var magneticHeading: CLLocationDirection { -1 }

    /// Degrees from true north; negative if not known.
    open var trueHeading: CLLocationDirection { -1 }

    /// How far off ``magneticHeading`` may be, in degrees; negative if it is not known.
    open var headingAccuracy: CLLocationDirection { -1 }

    /// The magnetic field along the device's width, in microteslas.
    open var x: CLHeadingComponentValue { 0 }

    /// The magnetic field along the device's height, in microteslas.
    open var y: CLHeadingComponentValue { 0 }

    /// The magnetic field through the device, in microteslas.
    open var z: CLHeadingComponentValue { 0 }

    /// When it was so.
    open var timestamp: Date { .distantPast }

    /// A heading that is not known.
    public override init() {
        super.init()
    }

    /// A heading that is not known, whatever the archive holds.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes nothing: there is nothing known to write.
    open func encode(with coder: NSCoder) {}

    /// The heading itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

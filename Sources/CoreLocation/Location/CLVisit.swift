/// A visit to a place. No visit is ever delivered here; the type exists so that delegates that use it compile.
///
/// The coordinate is ``kCLLocationCoordinate2DInvalid``. A subclass may override the properties.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// The start of the visit; `distantPast` if unknown.
    open var arrivalDate: Date { .distantPast }

    /// The end of the visit; `distantFuture` if it has not ended.
    open var departureDate: Date { .distantFuture }

    /// The coordinate of the visit.
    open var coordinate: CLLocationCoordinate2D { kCLLocationCoordinate2DInvalid }

    /// The radius of uncertainty around ``coordinate`` in meters; negative if unknown.
    open var horizontalAccuracy: CLLocationAccuracy { -1 }

    /// Creates an unknown visit.
    public override init() {
        super.init()
    }

    /// Creates an unknown visit, whatever the archive contains.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes nothing, since all properties are unknown.
    open func encode(with coder: NSCoder) {}

    /// Returns the visit itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

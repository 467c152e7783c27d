/// A stay at a place. None is ever delivered here; the type lets delegates that mention it compile.
///
/// The place is ``kCLLocationCoordinate2DInvalid``. A subclass may override what it needs.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// The time at which the stay began; `distantPast` if not known.
    open var arrivalDate: Date { .distantPast }

    /// The time at which the stay ended; `distantFuture` if it has not.
    open var departureDate: Date { .distantFuture }

    /// The place of the stay.
    open var coordinate: CLLocationCoordinate2D { kCLLocationCoordinate2DInvalid }

    /// The radius around ``coordinate`` in metres; negative if that is not known.
    open var horizontalAccuracy: CLLocationAccuracy { -1 }

    /// Creates a stay of which nothing is known.
    public override init() {
        super.init()
    }

    /// Creates a stay of which nothing is known, whatever the archive holds.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes nothing: there is nothing known to write.
    open func encode(with coder: NSCoder) {}

    /// Returns the stay itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

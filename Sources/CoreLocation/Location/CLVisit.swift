/// A stay at a place. None is ever told here; the type lets delegates that mention it compile.
///
/// The place is ``kCLLocationCoordinate2DInvalid``. A subclass may override what it needs.
open class CLVisit: NSObject, NSCopying, NSSecureCoding {
    /// When the stay began; `distantPast` if not known.
    open var arrivalDate: Date { .distantPast }

    /// When the stay ended; `distantFuture` if it has not.
    open var departureDate: Date { .distantFuture }

    /// Where it was.
    open var coordinate: CLLocationCoordinate2D { kCLLocationCoordinate2DInvalid }

    /// The radius around ``coordinate`` in metres; negative if that is not known.
    open var horizontalAccuracy: CLLocationAccuracy { -1 }

    /// A stay of which nothing is known.
    public override init() {
        super.init()
    }

    /// A stay of which nothing is known, whatever the archive holds.
    public required init?(coder: NSCoder) {
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes nothing: there is nothing known to write.
    open func encode(with coder: NSCoder) {}

    /// The stay itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

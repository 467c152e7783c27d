/// The names of a place. None is ever found here; the type lets code that mentions it compile.
///
/// Every name is nil, and so is the location. A subclass may override what it needs.
open class CLPlacemark: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. Nothing is stored.

    /// The place itself.
    open var location: CLLocation? { nil }

    /// The area that the names mean.
    open var region: CLRegion? { nil }

    /// The time zone.
    open var timeZone: TimeZone? { nil }

    /// The address as a dictionary.
    @available(*, deprecated, message: "Use the other properties.")
    open var addressDictionary: [AnyHashable: Any]? { nil }

    /// The name of the place, a sight's for instance.
    open var name: String? { nil }

    /// The street.
    open var thoroughfare: String? { nil }

    /// The number in the street.
    open var subThoroughfare: String? { nil }

    /// The town.
    open var locality: String? { nil }

    /// The part of the town.
    open var subLocality: String? { nil }

    /// The state or province.
    open var administrativeArea: String? { nil }

    /// The part of the state, a county for instance.
    open var subAdministrativeArea: String? { nil }

    /// The postal code.
    open var postalCode: String? { nil }

    /// The country's code by ISO 3166.
    open var isoCountryCode: String? { nil }

    /// The country.
    open var country: String? { nil }

    /// The lake or river.
    open var inlandWater: String? { nil }

    /// The ocean.
    open var ocean: String? { nil }

    /// The sights at the place.
    open var areasOfInterest: [String]? { nil }

    /// Creates a placemark without any name.
    public override init() { super.init() }

    /// Creates a placemark without any name, as the other one is.
    public init(placemark: CLPlacemark) { super.init() }

    /// Creates a placemark without any name, whatever the archive holds.
    public required init?(coder: NSCoder) { super.init() }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes nothing: there is nothing known to write.
    open func encode(with coder: NSCoder) {}

    /// Returns the placemark itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

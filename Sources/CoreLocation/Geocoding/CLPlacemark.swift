/// The names of a place. Requests never return one here; the type exists so that code that uses it compiles.
///
/// All properties are nil. A subclass may override them.
open class CLPlacemark: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. It has no stored properties.

    /// The location of the place.
    open var location: CLLocation? { nil }

    /// The area that the names refer to.
    open var region: CLRegion? { nil }

    /// The time zone.
    open var timeZone: TimeZone? { nil }

    /// The address as a dictionary.
    @available(*, deprecated, message: "Use the other properties.")
    open var addressDictionary: [AnyHashable: Any]? { nil }

    /// The name of the place, for example of a landmark.
    open var name: String? { nil }

    /// The street.
    open var thoroughfare: String? { nil }

    /// The house number.
    open var subThoroughfare: String? { nil }

    /// The town or city.
    open var locality: String? { nil }

    /// The district of the town or city.
    open var subLocality: String? { nil }

    /// The state or province.
    open var administrativeArea: String? { nil }

    /// The district of the state, for example a county.
    open var subAdministrativeArea: String? { nil }

    /// The postal code.
    open var postalCode: String? { nil }

    /// The country code according to ISO 3166.
    open var isoCountryCode: String? { nil }

    /// The country.
    open var country: String? { nil }

    /// The lake or river.
    open var inlandWater: String? { nil }

    /// The ocean.
    open var ocean: String? { nil }

    /// Points of interest at the place.
    open var areasOfInterest: [String]? { nil }

    /// Creates a placemark without names.
    public override init() { super.init() }

    /// Creates a placemark without names, like the other one.
    public init(placemark: CLPlacemark) { super.init() }

    /// Creates a placemark without names, whatever the archive contains.
    public required init?(coder: NSCoder) { super.init() }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes nothing, since all properties are nil.
    open func encode(with coder: NSCoder) {}

    /// Returns the placemark itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

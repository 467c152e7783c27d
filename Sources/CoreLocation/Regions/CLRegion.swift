internal import BeaconModel
internal import BeaconSupport
import Foundation

/// An area that can be monitored. Apps use the subclasses ``CLBeaconRegion`` and ``CLCircularRegion``.
///
/// Two regions are equal if they have the same identifier and the same kind, beacon or circular, whatever their other
/// properties. So `monitoredRegions` may contain other objects than the registered ones. Apple recommends identifying
/// regions by their identifier. That the kind counts as well is a choice, since Apple's documentation leaves it open.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. The flags are behind a lock; all other stored
    // properties are constant. A subclass is responsible for its own properties.

    /// The kinds of region that a comparison distinguishes.
    enum Kind {
        case plain, beacon, circular
    }

    /// The kind of this region.
    var kind: Kind { .plain }

    /// The app's identifier for the region, unique among its regions.
    open var identifier: String { name }

    /// A Boolean value indicating whether entries are reported. True by default.
    open var notifyOnEntry: Bool {
        get { flags.withLock { $0.entry } }
        set { flags.withLock { $0.entry = newValue } }
    }

    /// A Boolean value indicating whether exits are reported. True by default.
    open var notifyOnExit: Bool {
        get { flags.withLock { $0.exit } }
        set { flags.withLock { $0.exit = newValue } }
    }

    private let name: String
    private let flags = Locked((entry: true, exit: true))

    /// Creates a region without an identifier or an area. It cannot be monitored; use a subclass.
    public override init() {
        name = ""
        super.init()
    }

    /// Creates a region with an identifier.
    init(name: String) {
        self.name = name
        super.init()
    }

    /// Decodes a region.
    ///
    /// - Returns: nil if the archive has no identifier.
    public required init?(coder: NSCoder) {
        guard let name = coder.decodeObjectIfPresent(of: NSString.self, forKey: Key.identifier) else { return nil }
        self.name = name as String
        super.init()
        notifyOnEntry = coder.decodeBool(forKey: Key.notifyOnEntry)
        notifyOnExit = coder.decodeBool(forKey: Key.notifyOnExit)
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the region.
    open func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: Key.identifier)
        coder.encode(notifyOnEntry, forKey: Key.notifyOnEntry)
        coder.encode(notifyOnExit, forKey: Key.notifyOnExit)
    }

    /// Returns an equal region that can be changed independently. Its class is Core Location's, even if this region's
    /// class is an app's subclass.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = bareCopy()
        copy.notifyOnEntry = notifyOnEntry
        copy.notifyOnExit = notifyOnExit
        return copy
    }

    /// Returns a new region of the same Core Location class, without its flags.
    func bareCopy() -> CLRegion { CLRegion(name: identifier) }

    /// Returns true if the other object is a region with the same kind and identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLRegion else { return false }
        return other === self || other.kind == kind && other.identifier == identifier
    }

    /// The hash of the identifier alone.
    open override var hash: Int { identifier.hashValue }

    /// The class and the identifier, as in Apple's logs.
    open override var description: String { "CLRegion (identifier:'\(identifier)')" }

    private enum Key {
        static let identifier = "identifier"
        static let notifyOnEntry = "notifyOnEntry"
        static let notifyOnExit = "notifyOnExit"
    }
}

/// The state of a region. A `switch` over the three cases is complete.
@frozen
public enum CLRegionState: Int, Sendable, BitwiseCopyable {
    /// Not determined yet, or no longer known: for example, Bluetooth is off.
    case unknown = 0

    /// Inside the region: for a beacon region, at least one matching beacon is heard.
    case inside = 1

    /// Outside the region.
    case outside = 2
}

extension CLRegionState {
    /// Converts a region's state to Apple's type.
    init(_ state: RegionState) {
        switch state {
        case .unknown: self = .unknown
        case .inside: self = .inside
        case .outside: self = .outside
        }
    }
}

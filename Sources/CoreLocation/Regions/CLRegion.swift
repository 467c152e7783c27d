internal import BeaconModel
internal import BeaconSupport
import Foundation

/// An area that can be monitored. Apps make a ``CLBeaconRegion`` or a ``CLCircularRegion``.
///
/// Two regions are equal when they have the same identifier and are of the same kind, beacon or circular, whatever else
/// they hold; so `monitoredRegions` may give other objects than were registered. Apple says to go by the identifier;
/// that the kind counts as well is a choice made here, since Apple's documents leave it open.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. The flags are behind a lock, all else that is stored
    // is constant, and a subclass answers for what it adds.

    /// The kinds of region that a comparison distinguishes.
    enum Kind {
        case plain, beacon, circular
    }

    /// The kind that this region is of.
    var kind: Kind { .plain }

    /// The name that the app gave the region, unique among the regions of the app.
    open var identifier: String { name }

    /// A Boolean value that says that entering is reported. True unless set otherwise.
    open var notifyOnEntry: Bool {
        get { flags.withLock { $0.entry } }
        set { flags.withLock { $0.entry = newValue } }
    }

    /// A Boolean value that says that leaving is reported. True unless set otherwise.
    open var notifyOnExit: Bool {
        get { flags.withLock { $0.exit } }
        set { flags.withLock { $0.exit = newValue } }
    }

    private let name: String
    private let flags = Locked((entry: true, exit: true))

    /// Creates a region without a name and without an area. It cannot be monitored; there are subclasses for that.
    public override init() {
        name = ""
        super.init()
    }

    /// Creates a region of this name.
    init(name: String) {
        self.name = name
        super.init()
    }

    /// Reads a region from an archive.
    ///
    /// - Returns: nil if the archive holds no identifier.
    public required init?(coder: NSCoder) {
        guard let name = coder.decodeObjectIfPresent(of: NSString.self, forKey: Key.identifier) else { return nil }
        self.name = name as String
        super.init()
        notifyOnEntry = coder.decodeBool(forKey: Key.notifyOnEntry)
        notifyOnExit = coder.decodeBool(forKey: Key.notifyOnExit)
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the region to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: Key.identifier)
        coder.encode(notifyOnEntry, forKey: Key.notifyOnEntry)
        coder.encode(notifyOnExit, forKey: Key.notifyOnExit)
    }

    /// Returns a region that is equal to this one and can be changed without changing it. Its class is Core Location's
    /// own, also where this one's is a subclass made elsewhere.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = bareCopy()
        copy.notifyOnEntry = notifyOnEntry
        copy.notifyOnExit = notifyOnExit
        return copy
    }

    /// Returns a new region of the same class of Core Location, its flags still to be set.
    func bareCopy() -> CLRegion { CLRegion(name: identifier) }

    /// Returns true where the other is a region of the same kind and identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLRegion else { return false }
        return other === self || other.kind == kind && other.identifier == identifier
    }

    /// The hash of the identifier alone.
    open override var hash: Int { identifier.hashValue }

    /// The class and the identifier, as Apple's logs have them.
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
    /// Not determined so far, or no longer known: Bluetooth is off, for instance.
    case unknown = 0

    /// In the region: for a beacon region, at least one matching beacon is heard.
    case inside = 1

    /// Outside the region.
    case outside = 2
}

extension CLRegionState {
    /// Creates Apple's form of a region's state.
    init(_ state: RegionState) {
        switch state {
        case .unknown: self = .unknown
        case .inside: self = .inside
        case .outside: self = .outside
        }
    }
}

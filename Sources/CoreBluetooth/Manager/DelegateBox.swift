import BeaconRadio
import BeaconService

/// A delegate that is not kept alive and may be changed on one thread while a callback asks for it on another.
///
/// A weak variable alone does not allow that: to read it is safe anywhere, to change it meanwhile is not.
final class DelegateBox<Delegate>: Sendable {
    private let reference: Locked<WeakReference<AnyObject>>

    init(_ delegate: Delegate?) { reference = Locked(Self.reference(to: delegate)) }

    var delegate: Delegate? {
        get { reference.withLock { $0 }.object as? Delegate }
        set {
            let new = Self.reference(to: newValue)
            reference.withLock { $0 = new }
        }
    }

    /// The protocols are those of classes, which Swift does not know of a generic parameter that is a protocol.
    private static func reference(to delegate: Delegate?) -> WeakReference<AnyObject> {
        WeakReference(delegate.map { $0 as AnyObject })
    }
}

/// A weak reference to a manager, or to what a manager tells, that goes to another thread.
///
/// It is unchecked because managers and delegates are not Sendable. The reference is never written to after it was made;
/// reading a weak reference is safe on any thread; and what is read is used only where the manager's callbacks are
/// made, which is where its owner expects to be called.
struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    weak let object: Object?

    init(_ object: Object?) { self.object = object }
}

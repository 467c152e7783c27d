/// A weak reference to a manager that a callback carries to where it is made.
///
/// It is unchecked because managers are not Sendable. Reading a weak reference is safe on any thread, and what is read is
/// used only where the manager's callbacks are made, which is where its owner uses it.
struct WeakManager: @unchecked Sendable {
    weak var manager: CLLocationManager?
}

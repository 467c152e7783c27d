/// A manager that is kept alive while it advertises or an answer to it is under way.
///
/// It is unchecked because managers are not Sendable. Counting references is safe on any thread, what a manager of this
/// module stores is immutable or behind a lock, and what a subclass adds is reached only through callbacks, which are made
/// where its owner expects them.
struct SentManager: @unchecked Sendable {
    let manager: CBPeripheralManager
}

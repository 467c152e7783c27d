import BeaconSupport

/// The Swift objects that a C library calls back, each under a number.
///
/// The library holds the number instead of a pointer. A late callback then finds no owner, rather than memory that has
/// been freed or reused.
struct CallbackTable<Owner: Sendable>: Sendable {
    private struct State {
        var last: UInt = 0
        var owners: [UInt: Owner] = [:]
    }

    private let state = Locked(State())

    /// Inserts an owner.
    ///
    /// - Returns: The owner's number, which is never reused.
    func insert(_ owner: Owner) -> UInt {
        state.withLock { state in
            state.last += 1
            state.owners[state.last] = owner
            return state.last
        }
    }

    /// Removes an owner. A callback that has already looked it up may still be running.
    func remove(_ number: UInt) {
        // Release the owner outside the lock, because its deinitializer may call this table again.
        let removed = state.withLock { $0.owners.removeValue(forKey: number) }
        _ = removed
    }

    /// Returns the owner of a number.
    func owner(of number: UInt) -> Owner? { state.withLock { $0.owners[number] } }

    /// Returns the pointer under which the library stores a number.
    static func context(_ number: UInt) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    /// Returns the number that the library stored as a pointer.
    static func number(_ context: UnsafeMutableRawPointer?) -> UInt { UInt(bitPattern: context) }
}

import BeaconSupport

/// Those that a C library calls back, by number.
///
/// The library is given a number in place of a pointer, so that a callback that comes late finds nobody rather than
/// memory that is somebody else's.
struct CallbackTable<Owner: Sendable>: Sendable {
    private struct State {
        var last: UInt = 0
        var owners: [UInt: Owner] = [:]
    }

    private let state = Locked(State())

    /// Inserts an owner.
    ///
    /// - Returns: its number, which no other gets.
    func insert(_ owner: Owner) -> UInt {
        state.withLock { state in
            state.last += 1
            state.owners[state.last] = owner
            return state.last
        }
    }

    /// Removes an owner. A callback that has found it already may still be under way.
    func remove(_ number: UInt) {
        // It is released outside the lock, since its end may come back here.
        let removed = state.withLock { $0.owners.removeValue(forKey: number) }
        _ = removed
    }

    /// Returns the owner of a number.
    func owner(of number: UInt) -> Owner? { state.withLock { $0.owners[number] } }

    /// The form in which the library keeps a number.
    static func context(_ number: UInt) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    /// Returns the number in what the library kept.
    static func number(_ context: UnsafeMutableRawPointer?) -> UInt { UInt(bitPattern: context) }
}

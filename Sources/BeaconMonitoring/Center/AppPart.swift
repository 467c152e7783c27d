import BeaconSupport
import Foundation

/// The part of an app's object in the app that runs now, such as a manager's requests.
///
/// In tests, a static property keeps an object longer than its simulated app runs. When the object is used again, it
/// gets a new part in the app that runs then.
package final class AppPart<Part: Sendable>: Sendable {
    private struct State {
        var center: BeaconCenter
        var part: Part
        var begin: (@Sendable (Part) -> Void)?
    }

    /// The kind of object with its article, for the log.
    private let name: String
    private let make: @Sendable (BeaconCenter) -> Part
    private let state: Locked<State>

    /// Makes the part for the current center.
    ///
    /// - Parameters:
    ///   - name: the kind of object with its article, for the log, such as "a CLLocationManager".
    ///   - make: makes a part for a center.
    package init(of name: String, _ make: @escaping @Sendable (BeaconCenter) -> Part) {
        self.name = name
        self.make = make
        let center = BeaconCenter.forNew(name)
        state = Locked(State(center: center, part: make(center)))
    }

    /// Sets the start of this part and of later ones, and starts this one.
    package func begin(_ body: @escaping @Sendable (Part) -> Void) {
        let part = state.withLock { state in
            state.begin = body
            return state.part
        }
        body(part)
    }

    /// The part in the app that runs now.
    package var current: Part {
        let (center, part) = state.withLock { ($0.center, $0.part) }
        guard let new = BeaconCenter.ofSimulatedDevice, new !== center else { return part }
        guard center.gate.isOver else {
            center.reportForeignUse(of: name, by: new)
            return part
        }
        return move(from: center, to: new)
    }

    private func move(from old: BeaconCenter, to new: BeaconCenter) -> Part {
        let part = make(new)
        let (current, begin) = state.withLock { state in
            // Another thread may have moved it.
            guard state.center === old else { return (state.part, nil as (@Sendable (Part) -> Void)?) }
            state.center = new
            state.part = part
            return (part, state.begin)
        }
        begin?(current)
        return current
    }
}

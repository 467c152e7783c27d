internal import BeaconApplications
import CoreLocation

/// A step of a situation's course: mostly a call of the stage.
struct Step: Sendable {
    let run: @MainActor @Sendable (Stage) async -> Void

    init(_ run: @escaping @MainActor @Sendable (Stage) async -> Void) { self.run = run }

    /// Several steps as one.
    static func all(_ steps: Step...) -> Step { repeated(1, steps) }
    static func repeated(_ count: Int, _ steps: Step...) -> Step { repeated(count, steps) }
    private static func repeated(_ count: Int, _ steps: [Step]) -> Step {
        Step { stage in for _ in 0..<count { for step in steps { await step.run(stage) } } }
    }

    /// Launches the app, and waits until regions without a beacon count as outside.
    static let outside = all(launch, wait(Situation.settling))

    static let launch = Step { await $0.launch() }
    static let start = Step { $0.start() }
    static let enterForeground = Step { await $0.enterForeground() }
    static let suspend = Step { await $0.suspend() }
    static let provisional = Step { $0.provisional() }
    static let changeAddress = Step { $0.changeAddress() }
    static let lookAtScreen = Step { await $0.lookAtScreen() }
    static let registerFormerRegions = Step { await $0.registerFormerRegions() }
    static func end(by ender: SimulatedDevice.Ender) -> Step { Step { await $0.end(by: ender) } }
    static func wait(_ seconds: Double) -> Step { Step { await $0.wait(seconds) } }
    static func mark(_ name: String) -> Step { Step { $0.mark(name) } }
    static func place(_ beacon: Int, at meters: Double) -> Step { Step { $0.place(beacon, at: meters) } }
    static func placeOther(at meters: Double) -> Step { Step { $0.placeOther(at: meters) } }
    static func placeTwin(at meters: Double) -> Step { Step { $0.placeTwin(at: meters) } }
    static func silence(_ beacons: Int...) -> Step { Step { $0.silence(beacons) } }
    static func bluetooth(_ state: SimulatedDevice.BluetoothState) -> Step { Step { $0.bluetooth(state) } }
    static func authorize(_ status: CLAuthorizationStatus) -> Step { Step { $0.authorize(status) } }
    static func setAccuracy(_ accuracy: CLAccuracyAuthorization) -> Step { Step { $0.setAccuracy(accuracy) } }
    static func window(_ seconds: Double) -> Step { Step { $0.window(seconds) } }

    static func walk(_ beacon: Int, to meters: Double, in seconds: Int) -> Step {
        Step { await $0.walk(beacon, to: meters, in: seconds) }
    }

    /// Restarts the device, and unlocks it after these steps.
    static func restart(_ steps: Step...) -> Step {
        Step { stage in await stage.restart { for step in steps { await step.run(stage) } } }
    }
}

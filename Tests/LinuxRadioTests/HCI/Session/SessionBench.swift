import BeaconModel
import BeaconRadio

@testable import LinuxRadio

/// A session and a controller in virtual time.
struct SessionBench {
    var session: ControllerSession
    var controller: VirtualController
    private(set) var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    private(set) var notices: [RadioNotice] = []
    private(set) var advertising: [(advert: OutgoingAdvert, result: Result<Void, RadioError>)] = []
    private(set) var powerChanges: [PowerChange] = []
    private(set) var protected: [HCICommand] = []
    /// The system's error for a change of power; nil for success.
    var powerFailure: HCISystemError?
    /// The interval of adverts while the controller scans, in nanoseconds; nil in an empty room.
    var adverts: Int64?
    /// The number of devices in the air.
    var devices = 1
    /// The reported periods of deafness.
    private(set) var deafness: [(from: Timestamp, to: Timestamp)] = []

    init(
        _ controller: VirtualController = VirtualController(),
        configuration: ControllerConfiguration = ControllerConfiguration()
    ) {
        self.controller = controller
        var made: UInt64 = 0
        session = ControllerSession(name: "hci7", configuration: configuration) {
            defer { made += 1 }
            return DeviceAddress(bits: 0x0123_4567_89AB + made, kind: .random)
        }
    }

    /// Returns a session whose adapter is on and has reported its features.
    static func working(_ controller: VirtualController = VirtualController()) -> SessionBench {
        var bench = SessionBench(controller)
        bench.session.begin(isOn: true, at: bench.now)
        bench.settle()
        return bench
    }

    /// The kinds of the reported notices.
    var kinds: [RadioNotice.Kind] { notices.map(\.kind) }

    /// An arbitrary frame.
    static let frame = OutgoingAdvert(
        IBeaconFrame(
            identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59))

    /// The outcomes: the minor of each frame, negative for a failure.
    var outcomes: [Int] {
        advertising.map { frame, result in
            let minor = Int(frame.frame?.identity.minor ?? 0)
            return if case .success = result { minor } else { -minor }
        }
    }

    mutating func forgetOutcomes() { advertising = [] }

    mutating func forgetNotices() { notices = [] }

    mutating func scan(_ mode: ScanMode) {
        session.scan(ScanParameters(mode), at: now)
        settle()
    }

    mutating func advertise(_ frames: [OutgoingAdvert]) {
        session.advertise(frames, at: now)
        settle()
    }

    mutating func rotateAddresses(every seconds: Int64?) {
        session.rotateAddresses(every: seconds.map { $0 * Timestamp.nanosecondsPerSecond }, at: now)
        settle()
    }

    /// Sends a command of another program to the adapter.
    mutating func othersSend(_ command: HCICommand) {
        session.receive(othersCommand: command, at: now)
        if let event = controller.receive(command) { session.receive(event: event.span.bytes, at: now) }
        settle()
    }

    /// Advances time by seconds.
    mutating func wait(_ seconds: Double) {
        let end = now.advanced(by: Int64(seconds * 1e9))
        while now < end {
            let heard = adverts.map { now.advanced(by: $0) } ?? .latest
            now = max(now, min(end, session.deadline, heard))
            if now == heard, controller.isScanning, !controller.isSilent, controller.maskedEvents.isEmpty {
                for _ in 0..<devices { session.heardAdvert(at: now) }
                session.heard(at: now)
            }
            session.advance(to: now)
            settle()
        }
    }

    /// Performs the session's steps until there are no more.
    mutating func settle() {
        while case let steps = session.drainSteps(), !steps.isEmpty {
            for step in steps { perform(step) }
        }
    }

    private mutating func perform(_ step: SessionStep) {
        switch step {
        case .send(let command):
            if let event = controller.receive(command) { session.receive(event: event.span.bytes, at: now) }
        case .protect(let commands): protected = commands
        case .power(let change):
            powerChanges.append(change)
            if powerFailure == nil {
                controller.reset()
                controller.unmask()
            }
            session.powered(powerFailure, change: change, at: now)
        case .report(.notice(let notice)): notices.append(notice)
        case .report(.advertising(let frame, let result)): advertising.append((frame, result))
        case .report: break
        case .deaf(let from, let to): deafness.append((from, to))
        }
    }
}

public import BeaconModel

/// A receiver of adverts, and a sender where the hardware can send: a Bluetooth controller, a capture that plays, the
/// simulated air.
///
/// A radio carries out requests, none of which blocks the caller, and gives a sequence of events to one listener.
public protocol Radio: Sendable {
    /// The sequence of the radio's events.
    associatedtype Events: AsyncSequence<RadioEvent, Never> & Sendable

    /// Returns the radio's events from now on, for one listener. The first is the state.
    func events() -> Events

    /// Sets the scan mode.
    func scan(_ mode: ScanMode)

    /// Sets the frames to send, each as an advert of its own. The outcome of each frame comes as an event.
    func advertise(_ frames: [IBeaconFrame])

    /// True where the radio can send at all, so that ``advertise(_:)`` has outcomes.
    var canAdvertise: Bool { get }
}

extension Radio {
    /// True, as for most radios.
    public var canAdvertise: Bool { true }
}

/// The mode in which a radio scans.
@nonexhaustive
public enum ScanMode: Hashable, Sendable {
    /// No scan.
    case off
    /// A passive scan for beacons of these UUIDs, which wakes the process as seldom as possible.
    case monitoring(Set<ProximityUUID>)
    /// A passive scan for every advert, with its signal.
    case ranging
}

/// The state of a radio.
@nonexhaustive
public enum RadioState: UInt8, Hashable, Sendable, CaseIterable {
    /// Unknown so far.
    case unknown
    /// The radio was lost, and is being restored, which may take long.
    case resetting
    /// The machine has no radio that could be used.
    case unsupported
    /// This process may not use the radio.
    case unauthorized
    /// The radio is switched off.
    case poweredOff
    /// The radio works. In this state alone it hears.
    case poweredOn
}

/// An error of a radio, with its remedy.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case unsupported, notPermitted, failed
        }

        private let value: Value

        /// The radio cannot do it.
        public static let unsupported = Code(value: .unsupported)
        /// This process may not do it.
        public static let notPermitted = Code(value: .notPermitted)
        /// It was tried and did not work.
        public static let failed = Code(value: .failed)
    }

    /// The kind of the failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two.
    public var message: String

    /// The error of what plays a recording or a simulation, which can only be heard.
    package static let cannotSend = RadioError(
        .unsupported,
        "a capture or a simulation hears and cannot send. Use a radio, BEACON_SOURCE=auto, or the simulated air that "
            + "processes share, BEACON_SOURCE=air")

    /// An error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

public import BeaconModel

/// The source of an app: a radio, a capture that plays, or the simulated air.
///
/// A radio carries out requests, none of which blocks the caller, and gives a sequence of events to one listener. One
/// that can send is an ``Advertiser`` too.
public protocol Radio: Sendable {
    /// The sequence of the radio's events.
    associatedtype Events: AsyncSequence<SourceEvent, Never> & Sendable

    /// Returns the radio's events from now on, for one listener. The first is the state.
    func events() -> Events

    /// Sets the scan mode.
    func scan(_ mode: ScanMode)

    /// The part that sends; nil where the radio can only hear.
    var advertiser: (any Advertiser & Sendable)? { get }

    /// The radio, for people.
    var title: String { get }

    /// True where the radio stands for several receivers elsewhere, each with its own hearing.
    var hasReceivers: Bool { get }

    /// The state that remains when the radio has come to its end; nil for one without an end.
    var stateAtEnd: RadioState? { get }
}

extension Radio {
    /// A plain title.
    public var title: String { "radio" }

    /// False, as for most radios.
    public var hasReceivers: Bool { false }

    /// None: a radio has no end.
    public var stateAtEnd: RadioState? { nil }
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
    /// A scan for the adverts of all devices, with their bytes. It asks devices for their scan responses, which has
    /// those nearby learn of this machine.
    case discovery
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

    /// The error of a recording or a simulation, which can only be heard.
    package static let cannotSend = RadioError(
        .unsupported,
        "a capture or a simulation hears and cannot send. Use a radio, BEACON_SOURCE=auto, or the simulated air that "
            + "processes share, BEACON_SOURCE=air")

    /// The error of receivers elsewhere, which can only be heard.
    package static let receiversCannotSend = RadioError(
        .unsupported, "receivers elsewhere hear and cannot send; use a radio of this machine to send")

    /// An error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

public import BeaconModel

/// The source of an app: a radio, a capture, or the simulated air.
///
/// A radio carries out requests without blocking the caller, and delivers its events to one listener. A radio that can
/// send is also an ``Advertiser``.
public protocol Radio: Sendable {
    /// The sequence of the radio's events.
    associatedtype Events: AsyncSequence<SourceEvent, Never> & Sendable

    /// Returns the radio's events from now on, for one listener. The first event is the state.
    func events() -> Events

    /// Sets the scan mode.
    func scan(_ mode: ScanMode)

    /// The sending part, or nil if the radio can only receive.
    var advertiser: (any Advertiser & Sendable)? { get }

    /// The radio's title for people.
    var title: String { get }

    /// True if the radio represents several remote receivers, each with its own reception.
    var hasReceivers: Bool { get }

    /// The state after the radio has ended; nil for a radio that never ends.
    var stateAtEnd: RadioState? { get }
}

extension Radio {
    /// A generic title.
    public var title: String { "radio" }

    /// False, as for most radios.
    public var hasReceivers: Bool { false }

    /// Nil: a radio never ends.
    public var stateAtEnd: RadioState? { nil }
}

/// The mode in which a radio scans.
@nonexhaustive
public enum ScanMode: Hashable, Sendable {
    /// No scan.
    case off
    /// A passive scan for beacons of these UUIDs, which wakes the process as rarely as possible.
    case monitoring(Set<ProximityUUID>)
    /// A passive scan for every advert, with its signal.
    case ranging
    /// A scan for the adverts of all devices, with their bytes. It requests their scan responses, so nearby devices
    /// notice this machine.
    case discovery
}

/// The state of a radio.
@nonexhaustive
public enum RadioState: UInt8, Hashable, Sendable, CaseIterable {
    /// The state is not yet known.
    case unknown
    /// The radio was lost and is being restored, which may take long.
    case resetting
    /// The machine has no usable radio.
    case unsupported
    /// This process may not use the radio.
    case unauthorized
    /// The radio is switched off.
    case poweredOff
    /// The radio works. It receives only in this state.
    case poweredOn
}

/// An error of a radio, with its remedy.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure. New codes may be added, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case unsupported, notPermitted, failed
        }

        private let value: Value

        /// The radio does not support the request.
        public static let unsupported = Code(value: .unsupported)
        /// This process has no permission for the request.
        public static let notPermitted = Code(value: .notPermitted)
        /// The request failed.
        public static let failed = Code(value: .failed)
    }

    /// The kind of the failure.
    public var code: Code

    /// The cause and the remedy, in a sentence or two.
    public var message: String

    /// The error of a recording or a simulation, which cannot send.
    package static let cannotSend = RadioError(
        .unsupported,
        "a capture or a simulation cannot send. Use a radio, BEACON_SOURCE=auto, or the simulated air that "
            + "processes share, BEACON_SOURCE=air")

    /// The error of remote receivers, which cannot send.
    package static let receiversCannotSend = RadioError(
        .unsupported, "remote receivers cannot send; use a radio of this machine to send")

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

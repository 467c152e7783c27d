import BeaconRadio
public import LinuxRadio

/// Where adverts are to come from, as `--source` and `BEACON_SOURCE` name it:
/// `auto | hci[:hciN] | bluez[:hciN] | FILE | simulation:NAME-or-FILE`.
///
/// An adapter may be named by its address as well, and several with commas between them.
public enum SourceSpecification: Hashable, Sendable {
    /// Whatever radio this machine has.
    case auto
    /// A Bluetooth controller by its raw HCI socket; nil for the first.
    case hci(adapters: String?)
    /// A Bluetooth controller by way of bluetoothd; nil for the first.
    case bluez(adapters: String?)
    /// A capture, or a pipe; `-` is standard input.
    case file(path: String)
    /// The simulated air: the name of a scenario that ships with the package, or a scenario file.
    case simulation(String)

    /// Reads a specification. Whatever is none of the other forms is a file.
    public init(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count == 2 ? parts[1] : nil
        switch (parts.first ?? "", rest) {
        case ("auto", nil): self = .auto
        case ("hci", _): self = .hci(adapters: rest)
        case ("bluez", _): self = .bluez(adapters: rest)
        case ("simulation", let scenario?): self = .simulation(scenario)
        default: self = .file(path: text)
        }
    }

    /// Whether the source makes its adverts as time passes, so that it plays in real time unless told otherwise.
    public var isLive: Bool {
        if case .file = self { return false }
        return true
    }
    /// Whether the source is a real radio, whose time nobody can change.
    public var isRadio: Bool {
        switch self {
        case .auto, .hci, .bluez: true
        case .file, .simulation: false
        }
    }

    /// The adapters that are meant; nil where the source is no radio.
    ///
    /// - Throws: an error that says which adapter's name is none.
    public var radio: RadioSelection? {
        get throws(RadioError) {
            switch self {
            case .auto: RadioSelection(.auto)
            case .hci(let adapters): try RadioSelection(.hci, named: adapters)
            case .bluez(let adapters): try RadioSelection(.bluez, named: adapters)
            case .file, .simulation: nil
            }
        }
    }
}

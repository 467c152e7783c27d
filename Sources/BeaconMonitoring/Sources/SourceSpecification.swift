package import BeaconRadio
package import BeaconReceivers
package import BeaconSimulation
import CLibrary
public import LinuxRadio

/// A source of adverts, in the form that `--source` and `BEACON_SOURCE` have:
/// `auto | hci[:hciN] | bluez[:hciN] | air[:NAME][@X,Y[,Z]] | mqtt://HOST | esphome[:HOST] | FILE |
/// simulation:NAME-or-FILE[?loop]`.
///
/// An adapter may also be named by its address. Several adapters are separated by commas.
public struct SourceSpecification: Hashable, Sendable {
    /// The settings of a network source of any kind.
    struct Network: Hashable, Sendable {
        var source: any NetworkSource

        static func == (one: Network, other: Network) -> Bool { AnyHashable(one.source) == AnyHashable(other.source) }

        func hash(into hasher: inout Hasher) { AnyHashable(source).hash(into: &hasher) }
    }

    enum Kind: Hashable, Sendable {
        case auto(adapters: String?)
        case hci(adapters: String?)
        case bluez(adapters: String?)
        case file(path: String)
        case simulation(String, isRepeated: Bool)
        case air(String)
        case network(Network)
    }

    let kind: Kind

    /// The tags that the source recognizes; nil for none.
    package var tags: TagDirectory?

    /// The first usable radio of this machine.
    public static let auto = SourceSpecification(kind: .auto(adapters: nil))

    /// Adapters over either raw HCI or bluetoothd; nil for the first usable one.
    package static func auto(adapters: String?) -> SourceSpecification { .init(kind: .auto(adapters: adapters)) }

    /// A Bluetooth adapter over its raw HCI socket; nil for the first.
    public static func hci(adapters: String?) -> SourceSpecification { .init(kind: .hci(adapters: adapters)) }

    /// A Bluetooth adapter over bluetoothd; nil for the first.
    public static func bluez(adapters: String?) -> SourceSpecification { .init(kind: .bluez(adapters: adapters)) }

    /// A capture file or a pipe; `-` is standard input.
    public static func file(path: String) -> SourceSpecification { .init(kind: .file(path: path)) }

    /// The simulated air of a scenario.
    ///
    /// - Parameters:
    ///   - name: the name of a scenario that ships with the package, or the path of a file.
    ///   - isRepeated: true to repeat the scenario without end.
    public static func simulation(_ name: String, isRepeated: Bool = false) -> SourceSpecification {
        .init(kind: .simulation(name, isRepeated: isRepeated))
    }

    /// The simulated air that the processes of a user share: each process hears the adverts of the others. The location
    /// of an app in it is `[:NAME][@X,Y[,Z]]`, in meters.
    public static func air(_ location: String = "") -> SourceSpecification { .init(kind: .air(location)) }

    /// Receivers that send their adverts over the network.
    package static func network(_ source: some NetworkSource) -> SourceSpecification {
        .init(kind: .network(Network(source: source)))
    }

    /// A Boolean value indicating whether it needs an adapter of this machine, and the kernel has none that it could
    /// mean.
    package var lacksAdapter: Bool {
        switch kind {
        case .auto(let names), .hci(let names), .bluez(let names): !RadioSelection.hasAdapter(named: names)
        default: false
        }
    }

    /// The parsers of network sources. Each returns nil for text in another form.
    private static let networkForms: [@Sendable (String) -> (any NetworkSource)?] = [
        { BrokerSource($0) },
        { ESPHomeSource($0) },
    ]

    private init(kind: Kind) { self.kind = kind }

    /// Parses a specification. Empty text is `auto`; text in no other form is a file's path.
    public init(_ text: String) {
        if text.hasPrefix("air"), ["", ":", "@"].contains(text.dropFirst(3).prefix(1)) {
            kind = .air(String(text.dropFirst(3)))
            return
        }
        for read in Self.networkForms {
            guard let source = read(text) else { continue }
            kind = .network(Network(source: source))
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count == 2 ? parts[1] : nil
        switch (parts.first ?? "", rest) {
        case ("auto", nil), ("", nil): kind = .auto(adapters: nil)
        case ("hci", _): kind = .hci(adapters: rest)
        case ("bluez", _): kind = .bluez(adapters: rest)
        case ("simulation", let scenario?):
            let isRepeated = scenario.hasSuffix("?loop")
            kind = .simulation(isRepeated ? String(scenario.dropLast(5)) : scenario, isRepeated: isRepeated)
        default: kind = .file(path: text)
        }
    }

    /// True if the source creates its adverts as time passes, so that it plays in real time by default.
    public var isLive: Bool { filePath == nil }

    /// True if the source is a radio, which always runs in real time: a real radio, the shared air, or receivers in the
    /// network.
    public var isRadio: Bool {
        switch kind {
        case .auto, .hci, .bluez, .air, .network: true
        case .file, .simulation: false
        }
    }

    /// True if the source is a Bluetooth adapter of this machine.
    package var isAdapter: Bool { if case .air = kind { false } else { canSend } }

    /// True if the source is a radio that can send: a radio of this machine, or the shared air.
    public var canSend: Bool { isRadio && !hasReceivers }

    /// The settings of receivers in the network; nil for any other source.
    package var network: (any NetworkSource)? { if case .network(let network) = kind { network.source } else { nil } }

    /// The displayed name of a source whose text may contain a password or options; nil for other sources.
    package var shownName: String? { hasReceivers ? title : nil }

    /// True if the source stands for several remote receivers, which may appear and disappear.
    package var hasReceivers: Bool { network != nil }

    /// The source without relays as its receivers, for a relay: otherwise its own messages would return to it.
    package var withoutRelays: SourceSpecification {
        changingNetwork { $0.acceptsRelays = false }
    }

    /// Returns the source as the continuation of an earlier one, with the client id or queue of that one. It is equal
    /// to the earlier one if the configuration was reloaded with the same settings.
    package func continuing(_ earlier: SourceSpecification) -> SourceSpecification {
        guard let network, let earlier = earlier.network else { return self }
        return Self.continuing(network, earlier)
    }

    private static func continuing<Source: NetworkSource>(
        _ source: Source, _ earlier: any NetworkSource
    ) -> SourceSpecification {
        .network((earlier as? Source).map(source.continuing) ?? source)
    }

    /// Returns the source with reserved capacity for receivers with these names, whatever other names its messages
    /// contain.
    package func reserving(_ names: some Sequence<String>) -> SourceSpecification {
        guard network?.admitsStrangers == true else { return self }
        return changingNetwork { $0.reserved.formUnion(names) }
    }

    /// The names of receivers that the user chose.
    package var namedReceivers: Set<String> { network?.network.reservedNames ?? [] }

    /// True if the source may contain any number of receivers that the user did not choose.
    package var admitsStrangers: Bool { network?.admitsStrangers ?? !isRadio }

    private func changingNetwork(_ change: (inout ReceiverNetwork.Settings) -> Void) -> SourceSpecification {
        guard case .network(var network) = kind else { return self }
        change(&network.source.network)
        var changed = SourceSpecification(kind: .network(network))
        changed.tags = tags
        return changed
    }

    /// True if the source is a scenario that this process plays itself.
    package var isSimulation: Bool { if case .simulation = kind { true } else { false } }

    /// The path of a capture; nil for any other source.
    public var filePath: String? {
        if case .file(let path) = kind { return path }
        return nil
    }

    /// The path of a capture or a custom scenario; nil if the source has none or is standard input.
    package var path: String? {
        switch kind {
        case .file(let path): path == "-" ? nil : path
        case .simulation(let name, _): Scenario.names.contains(name) ? nil : name
        case .auto, .hci, .bluez, .air, .network: nil
        }
    }

    /// Returns the source with another path, if it has one.
    package func replacing(path: String) -> SourceSpecification {
        switch kind {
        case .file: .file(path: path)
        case .simulation(_, let isRepeated): .simulation(path, isRepeated: isRepeated)
        case .auto, .hci, .bluez, .air, .network: self
        }
    }

    /// Checks whether the source can be opened, without opening a radio or a pipe, which other processes may be using.
    ///
    /// - Throws: the error that opening it would throw.
    package func validate() throws {
        switch kind {
        case .auto, .hci, .bluez: _ = try radio
        case .air: _ = try airLocation
        case .network(let network):
            let mistakes = network.source.mistakes()
            guard mistakes.isEmpty else { throw RadioError(.failed, mistakes.joined(separator: "; ")) }
        case .simulation: _ = try open()
        case .file(let path):
            var status = stat()
            if stat(path, &status) == 0, [S_IFIFO, S_IFCHR, S_IFSOCK].contains(status.st_mode & S_IFMT) { return }
            if path != "-" { _ = try open() }
        }
    }

    /// The location in the shared air; nil for any other source.
    ///
    /// - Throws: an error that describes the problem with the location.
    package var airLocation: AirLocation? {
        get throws(RadioError) {
            if case .air(let text) = kind { try AirLocation(text) } else { nil }
        }
    }

    /// The selected adapters; nil if the source is not a real radio.
    ///
    /// - Throws: an error that names the invalid adapter.
    public var radio: RadioSelection? {
        get throws(RadioError) {
            switch kind {
            case .auto(let adapters): try RadioSelection(.auto, named: adapters)
            case .hci(let adapters): try RadioSelection(.hci, named: adapters)
            case .bluez(let adapters): try RadioSelection(.bluez, named: adapters)
            case .file, .simulation, .air, .network: nil
            }
        }
    }

    /// Returns true if results should be written one by one, since they arrive slowly and a reader may wait for them.
    ///
    /// - Parameter pace: how fast a file or a simulation plays.
    public func isGradual(at pace: Pace) -> Bool {
        if isRadio || pace != .fastest { return true }
        guard let path = filePath else { return false }
        var status = stat()
        // A pipe may be fed by a program that runs for days.
        return path == "-" || (stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
    }

    /// Returns the reason why the source hears nothing in this state, as the subject and verb of a sentence; nil if it
    /// works.
    package func outage(in state: RadioState) -> String? {
        guard hasReceivers else { return state.outage }
        return switch state {
        case .unknown, .poweredOn: nil
        case .unauthorized: "the broker does not accept this client"
        default: "no receiver is known to hear"
        }
    }

    /// A title for people: the adapter, or the name of the file or scenario.
    public var title: String {
        switch kind {
        case .auto(let adapters): adapters ?? "auto"
        case .hci(let adapters): adapters ?? "hci"
        case .bluez(let adapters): adapters ?? "bluez"
        case .file(let path): path == "-" ? "standard input" : String(path.split(separator: "/").last ?? "")
        case .air(let location): "air\(location)"
        case .network(let network): network.source.title
        case .simulation(let name, _): "\(name.split(separator: "/").last ?? "") (simulated)"
        }
    }
}

/// An error of a source that cannot be used.
public struct SourceError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. Later versions may add more, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case noScenario, noTimes, noFile
        }

        private let value: Value

        /// The scenario does not exist, or it has an error.
        public static let noScenario = Code(value: .noScenario)
        /// The file does not exist, and the text names no other kind of source.
        public static let noFile = Code(value: .noFile)
        /// The source has no times, which the request needs.
        public static let noTimes = Code(value: .noTimes)
    }

    /// The kind of failure.
    public var code: Code

    /// The problem and its remedy, in a sentence or two.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// The forms of a source, for error messages.
    package static let forms =
        "sources are auto, hci, hci:hci0, bluez, air, mqtt://HOST, esphome, simulation:NAME, - and the path of a capture"

    package static let noTimes = SourceError(
        .noTimes,
        "this source has no times, which monitoring and ranging need. "
            + "Set the time from one packet to the next with --packet-interval SECONDS")
}

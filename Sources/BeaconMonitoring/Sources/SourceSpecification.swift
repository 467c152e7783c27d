import BeaconRadio
package import BeaconReceivers
package import BeaconSimulation
import CLibrary
public import LinuxRadio

/// The place where adverts come from, as `--source` and `BEACON_SOURCE` name it:
/// `auto | hci[:hciN] | bluez[:hciN] | air[:NAME][@X,Y[,Z]] | mqtt://HOST | esphome[:HOST] | FILE |
/// simulation:NAME-or-FILE[?loop]`.
///
/// An adapter may be named by its address as well, and several with commas between them.
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

    /// The first radio of this machine that can be used.
    public static let auto = SourceSpecification(kind: .auto(adapters: nil))

    /// Controllers by either way; nil for the first that can be used.
    package static func auto(adapters: String?) -> SourceSpecification { .init(kind: .auto(adapters: adapters)) }

    /// A Bluetooth controller by its raw HCI socket; nil for the first.
    public static func hci(adapters: String?) -> SourceSpecification { .init(kind: .hci(adapters: adapters)) }

    /// A Bluetooth controller by way of bluetoothd; nil for the first.
    public static func bluez(adapters: String?) -> SourceSpecification { .init(kind: .bluez(adapters: adapters)) }

    /// A capture, or a pipe; `-` is standard input.
    public static func file(path: String) -> SourceSpecification { .init(kind: .file(path: path)) }

    /// The simulated air of a scenario.
    ///
    /// - Parameters:
    ///   - name: the name of a scenario that ships with the package, or the path of a file.
    ///   - isRepeated: whether the scenario begins again at its end, without end.
    public static func simulation(_ name: String, isRepeated: Bool = false) -> SourceSpecification {
        .init(kind: .simulation(name, isRepeated: isRepeated))
    }

    /// The simulated air that the processes of a user share, in which each hears what the others send: an app's place
    /// in it as `[:NAME][@X,Y[,Z]]`, in metres.
    public static func air(_ location: String = "") -> SourceSpecification { .init(kind: .air(location)) }

    /// Receivers that send what they hear over the network.
    package static func network(_ source: some NetworkSource) -> SourceSpecification {
        .init(kind: .network(Network(source: source)))
    }

    /// The grammar of network sources: each reads its own text, and returns nil for any other.
    private static let networkForms: [@Sendable (String) -> (any NetworkSource)?] = [
        { BrokerSource($0) },
        { ESPHomeSource($0) },
    ]

    private init(kind: Kind) { self.kind = kind }

    /// Reads a specification. An empty one is `auto`; one that is none of the other forms is a file.
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

    /// True where the source makes its adverts as time passes, so that it plays in real time by default.
    public var isLive: Bool { filePath == nil }

    /// True where the source is a radio, which always runs in real time: a real one, a place in the shared air, or
    /// receivers in the network.
    public var isRadio: Bool {
        switch kind {
        case .auto, .hci, .bluez, .air, .network: true
        case .file, .simulation: false
        }
    }

    /// True where the source is a radio that can send: one of this machine, or a place in the shared air.
    public var canSend: Bool { isRadio && !hasReceivers }

    /// The settings of receivers in the network; nil where the source is another.
    package var network: (any NetworkSource)? { if case .network(let network) = kind { network.source } else { nil } }

    /// The name by which the source is shown where its text may have a password in it, or options; nil for others.
    package var shownName: String? { hasReceivers ? title : nil }

    /// True where the source stands for several receivers elsewhere, which come and go.
    package var hasReceivers: Bool { network != nil }

    /// The source without relays as its receivers, for a relay: its own messages would come back to it.
    package var withoutRelays: SourceSpecification {
        changingNetwork { $0.hearsRelays = false }
    }

    /// Returns the source as it continues an earlier one: with the client id or the queue that was made for that
    /// one. It is equal to the earlier one where a configuration that was read again has the same settings.
    package func continuing(_ earlier: SourceSpecification) -> SourceSpecification {
        guard let network, let earlier = earlier.network else { return self }
        return Self.continuing(network, earlier)
    }

    private static func continuing<Source: NetworkSource>(
        _ source: Source, _ earlier: any NetworkSource
    ) -> SourceSpecification {
        .network((earlier as? Source).map(source.continuing) ?? source)
    }

    /// Returns the source with places for receivers of these names, whatever other names its messages have.
    package func reserving(_ names: some Sequence<String>) -> SourceSpecification {
        guard network?.namesReceiversInMessages == true else { return self }
        return changingNetwork { $0.reserved.formUnion(names) }
    }

    private func changingNetwork(_ change: (inout ReceiverNetwork.Settings) -> Void) -> SourceSpecification {
        guard case .network(var network) = kind else { return self }
        change(&network.source.network)
        return SourceSpecification(kind: .network(network))
    }

    /// True where the source is a scenario that this process plays for itself.
    package var isSimulation: Bool { if case .simulation = kind { true } else { false } }

    /// The path of a capture; nil where the source is none.
    public var filePath: String? {
        if case .file(let path) = kind { return path }
        return nil
    }

    /// The path of a capture or of a scenario of one's own; nil where the source has none, or is standard input.
    package var path: String? {
        switch kind {
        case .file(let path): path == "-" ? nil : path
        case .simulation(let name, _): Scenario.names.contains(name) ? nil : name
        case .auto, .hci, .bluez, .air, .network: nil
        }
    }

    /// Returns the source with another path, where it has one.
    package func replacing(path: String) -> SourceSpecification {
        switch kind {
        case .file: .file(path: path)
        case .simulation(_, let isRepeated): .simulation(path, isRepeated: isRepeated)
        case .auto, .hci, .bluez, .air, .network: self
        }
    }

    /// Finds out whether the source can be opened, without opening what others may be using: a radio or a pipe.
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

    /// The place in the shared air; nil where the source is another.
    ///
    /// - Throws: an error that says what is wrong with the place.
    package var airLocation: AirLocation? {
        get throws(RadioError) {
            if case .air(let text) = kind { try AirLocation(text) } else { nil }
        }
    }

    /// The adapters that are meant; nil where the source is no real radio.
    ///
    /// - Throws: an error that names the part which is no adapter's name.
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

    /// Returns true where results should be written one by one, since they come slowly and a reader may wait for
    /// them.
    ///
    /// - Parameter pace: how fast a file or a simulation plays.
    public func isGradual(at pace: Pace) -> Bool {
        if isRadio || pace != .fastest { return true }
        guard let path = filePath else { return false }
        var status = stat()
        // A pipe may be fed by a program that runs for days.
        return path == "-" || (stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
    }

    /// Returns the reason why nothing can be heard while the radio is in a state, as the subject and verb of a
    /// sentence; nil where it works.
    package func outage(in state: RadioState) -> String? {
        guard hasReceivers else { return state.outage }
        return switch state {
        case .unknown, .poweredOn: nil
        case .unauthorized: "the broker does not accept this client"
        default: "no receiver is known to hear"
        }
    }

    /// A title for people: the adapter, the file's name or the scenario's.
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

/// The reason why a source cannot be used, and what to do about it.
public struct SourceError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case noScenario, noTimes, noFile
        }

        private let value: Value

        /// There is no such scenario, or it has an error.
        public static let noScenario = Code(value: .noScenario)
        /// There is no such file, nor a source of another kind with this name.
        public static let noFile = Code(value: .noFile)
        /// The source keeps no times, and what was asked for needs them.
        public static let noTimes = Code(value: .noTimes)
    }

    /// The kind of failure.
    public var code: Code

    /// The problem and its remedy, in a sentence or two.
    public var message: String

    /// An error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// The forms of a source, for whoever misspelt one.
    package static let forms =
        "sources are auto, hci, hci:hci0, bluez, air, mqtt://HOST, esphome, simulation:NAME, - and the path of a capture"

    package static let noTimes = SourceError(
        .noTimes,
        "this source keeps no times, without which nothing can be ranged or monitored. "
            + "Give --packet-interval SECONDS, the time from one packet to the next")
}

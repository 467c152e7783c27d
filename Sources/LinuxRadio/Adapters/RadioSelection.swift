public import BeaconRadio

/// Which adapters to use, and by which way.
public struct RadioSelection: Hashable, Sendable {
    /// How an adapter is reached.
    public enum Way: Hashable, Sendable {
        /// By a raw HCI socket where this process may open one, else by way of bluetoothd.
        case auto
        /// By a raw HCI socket.
        case hci
        /// By way of bluetoothd.
        case bluez
    }

    /// How the adapters are reached.
    public var way: Way

    /// The adapters; none for the first that can be used.
    public var adapters: [AdapterName]

    /// A selection from its parts.
    public init(_ way: Way, adapters: [AdapterName] = []) {
        self.way = way
        self.adapters = adapters
    }

    /// Reads names with commas between them: `hci0` or `hci0,00:1A:7D:DA:71:13`.
    ///
    /// - Throws: an error that says which of them is no name.
    public init(_ way: Way, named names: String?) throws(RadioError) {
        self.init(way)
        for name in (names ?? "").split(separator: ",", omittingEmptySubsequences: true) {
            guard let adapter = AdapterName(name) else {
                throw RadioError(
                    .failed,
                    "\"\(name)\" names no adapter. Write hci0, or an address such as 00:1A:7D:DA:71:13; "
                        + "beacon doctor lists the adapters there are.")
            }
            adapters.append(adapter)
        }
    }
}

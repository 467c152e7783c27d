/// The formats in which captures are read, told from the content.
public enum CaptureFormat: Hashable, Sendable, CaseIterable {
    /// The format of BlueZ's `btmon -w` and of Android's HCI log.
    case btsnoop
    /// The older format of tcpdump and Wireshark.
    case pcap
    /// The newer format of Wireshark.
    case pcapng
    /// The format of Apple's PacketLogger, `.pklg`.
    case packetLogger
    /// The text that `hcidump -R` prints.
    case hcidump
    /// One JSON object a line, as `beacon scan --json` prints it.
    case sightingLog
}

extension CaptureFormat: CustomStringConvertible {
    /// The name that people know the format by.
    public var description: String {
        switch self {
        case .btsnoop: "btsnoop"
        case .pcap: "pcap"
        case .pcapng: "pcapng"
        case .packetLogger: "PacketLogger"
        case .hcidump: "hcidump text"
        case .sightingLog: "sighting log"
        }
    }
}

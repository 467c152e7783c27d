/// What the kernel lets this process do beyond what its user may (capabilities(7)).
struct Capabilities {
    private let bits: UInt64

    /// What the process may do now, as `/proc/self/status` tells it; nothing where that cannot be read.
    init(_ files: SystemFiles) {
        let line = (files.text("/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        bits = (line?.split(whereSeparator: \.isWhitespace).last).flatMap { UInt64($0, radix: 16) } ?? 0
    }

    /// CAP_NET_ADMIN, number 12: switch adapters on and off.
    var canAdministerNetwork: Bool { bits & 1 << 12 != 0 }

    /// CAP_NET_RAW, number 13: send commands to a controller.
    var canUseRawSockets: Bool { bits & 1 << 13 != 0 }
}

import BeaconModel
import CBluetooth
import Glibc

/// An adapter as the kernel knows it.
struct LocalAdapter: Hashable {
    /// The kernel's number for it.
    let index: UInt16
    /// Its own address; zero where it has none yet.
    let address: DeviceAddress
    /// Whether it is switched on.
    let isUp: Bool
    /// How many events it has sent since it is there.
    let eventCount: UInt32

    /// `hci0`.
    var name: String { "hci\(index)" }

    init(index: UInt16, address: DeviceAddress, isUp: Bool, eventCount: UInt32 = 0) {
        self.index = index
        self.address = address
        self.isUp = isUp
        self.eventCount = eventCount
    }

    /// Reads about the adapter of this number.
    init(index: UInt16) throws(HCISystemError) {
        var adapter = beacon_adapter()
        guard beacon_adapters_read(index, &adapter) == 0 else { throw HCISystemError(errno) }
        self.index = index
        let bits = withUnsafeBytes(of: adapter.address) { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        address = DeviceAddress(bits: bits, kind: .public)
        isUp = adapter.is_up != 0
        eventCount = adapter.events
    }

    /// All adapters there are, by number.
    static func all() throws(HCISystemError) -> [LocalAdapter] {
        var indices = [UInt16](repeating: 0, count: 64)
        let count = beacon_adapters_list(&indices, UInt32(indices.count))
        guard count >= 0 else { throw HCISystemError(errno) }
        // One that goes meanwhile is not listed.
        return indices.prefix(Int(count)).sorted().compactMap { try? LocalAdapter(index: $0) }
    }

    /// Whether a user meant this one.
    func isMeant(by name: AdapterName) -> Bool {
        switch name {
        case .index(let index): index == self.index
        case .address(let address): address.bits == self.address.bits
        }
    }

    /// Whether a switch, of software or hardware, keeps its radio off (Documentation/ABI/stable/sysfs-class-rfkill).
    var isBlocked: Bool { Self.isBlocked(index: index) }

    /// The same of an adapter that cannot be asked.
    static func isBlocked(index: UInt16) -> Bool {
        let place = "/sys/class/bluetooth/hci\(index)"
        guard let directory = opendir(place) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill") else { continue }
            if ["soft", "hard"].contains(where: { isOne("\(place)/\(name)/\($0)") }) { return true }
        }
        return false
    }

    private static func isOne(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var digit: UInt8 = 0
        return read(file, &digit, 1) == 1 && digit == UInt8(ascii: "1")
    }
}

import BeaconModel

@testable import LinuxRadio

/// An adapter of the stand-in for bluetoothd.
final class StandInAdapter {
    let path: String
    let address: String
    var isPowered = true
    var isDiscovering = false
    /// True if bluetoothd runs with --experimental.
    var hasMonitors = true
    var features: [String] = []

    init(_ name: String, address: String = "02:BE:00:00:00:00") {
        path = "/org/bluez/\(name)"
        self.address = address
    }
}

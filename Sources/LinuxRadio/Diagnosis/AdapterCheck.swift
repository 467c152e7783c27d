/// Which adapters there are, and whether they can hear and send adverts.
struct AdapterCheck {
    let adapters: [AdapterInformation]

    func findings() -> [Finding] {
        guard !adapters.isEmpty else {
            return [
                Finding(
                    "adapters", .problem,
                    "There is no Bluetooth adapter. Plug one in; a built-in one may be off in the firmware, or its driver "
                        + "may lack its own.", remedy: "sudo dmesg | grep -i bluetooth")
            ]
        }
        return adapters.map { adapter in
            let version = adapter.versionName.map { "Bluetooth \($0)" } ?? "Bluetooth newer than 6.0"
            let text = "\(adapter.address), \(version)"
            guard adapter.supported.contains(.lowEnergy) else {
                return Finding(
                    adapter.name, .problem, "\(text), without Low Energy, which beacons use. Use another adapter.")
            }
            guard adapter.current.contains(.powered) else {
                return Finding(
                    adapter.name, .warning, "\(text), is switched off; beacon switches it on where it may.",
                    remedy: "bluetoothctl power on")
            }
            return Finding(adapter.name, .ok, "\(text), is switched on.")
        }
    }
}

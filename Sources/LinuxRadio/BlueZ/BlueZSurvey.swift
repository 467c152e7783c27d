import BeaconModel
public import BeaconRadio

/// A survey of BlueZ on this machine: the bus, bluetoothd and its adapters, or the reasons why they cannot be used.
public struct BlueZSurvey: Sendable {
    /// The reason why the bus cannot be used, or nil.
    public var busError: RadioError?

    /// The reason why bluetoothd cannot be used, or nil.
    public var daemonError: RadioError?

    /// Its adapters.
    public var adapters: [BlueZAdapter] = []

    /// The version of bluetoothd, if it reports one.
    public var version: String? { adapters.lazy.compactMap(\.version).first }

    /// True if bluetoothd offers its `--experimental` features, or nil if there is no adapter to tell from.
    public var isExperimental: Bool? { adapters.isEmpty ? nil : adapters.contains { $0.monitoring != .none } }

    /// Makes a survey; waits for bluetoothd's answer. The bus starts bluetoothd if the system has an activation file
    /// for it.
    ///
    /// - Parameters:
    ///   - address: the address of the bus; nil for the system's.
    ///   - seconds: the longest time to wait.
    public static func make(at address: String? = nil, within seconds: UInt64 = 10) -> BlueZSurvey {
        var survey = BlueZSurvey()
        let bus: SystemBus
        do throws(RadioError) {
            bus = try SystemBus(address: address)
        } catch {
            survey.busError = error
            return survey
        }
        var answer: Result<BusMessage, BusError>?
        do throws(BusError) {
            let call = try bus.call(
                BlueZ.service, "/", BlueZ.objectManager, "GetManagedObjects", within: seconds
            ) { answer = $0 }
            try withExtendedLifetime(call) { () throws(BusError) in
                while answer == nil {
                    if try !bus.process() { try bus.wait(until: .latest) }
                }
            }
        } catch {
            survey.busError = SystemBus.refusal(error)
            return survey
        }
        do throws(BusError) {
            if let answer { survey.adapters = try BlueZAdapter.adapters(in: try answer.get()) }
        } catch {
            survey.daemonError = refusal(error)
        }
        return survey
    }

    /// Returns the adapters.
    ///
    /// - Throws: the reason why no adapter can be used.
    func usableAdapters() throws(RadioError) -> [BlueZAdapter] {
        if let busError { throw busError }
        if let daemonError { throw daemonError }
        return adapters
    }

    private static func refusal(_ error: BusError) -> RadioError {
        if error.isDenial {
            return RadioError(
                .notPermitted, "this user may not use bluetoothd: \(error). \(BlueZ.accessRemedy)")
        }
        if error.isAbsence {
            return RadioError(
                .unsupported,
                "bluetoothd is not running. Install it (Debian: apt-get install bluez) and start it (systemctl start "
                    + "bluetooth), or use a raw HCI socket (hci:hci0).")
        }
        return RadioError(.failed, "bluetoothd does not answer: \(error). Restart it: systemctl restart bluetooth.")
    }
}

/// Names of BlueZ's services and interfaces on the bus (doc/ in its sources).
enum BlueZ {
    /// The daemon.
    static let service = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let monitor = "org.bluez.AdvertisementMonitor1"
    static let monitorManager = "org.bluez.AdvertisementMonitorManager1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    /// The remedy if bluetoothd offers no monitors.
    static let experimentalRemedy =
        "Let bluetoothd run with --experimental: put into /etc/systemd/system/bluetooth.service.d/experimental.conf the "
        + "lines \"[Service]\", \"ExecStart=\" and \"ExecStart=/usr/libexec/bluetooth/bluetoothd --experimental\" (the "
        + "path as systemctl cat bluetooth shows it), then systemctl daemon-reload and systemctl restart bluetooth. Or "
        + "use a raw HCI socket (hci:hci0)."

    /// The remedy if the bus's policy does not let a user call bluetoothd.
    static let accessRemedy =
        "Add the user to the group bluetooth (usermod -aG bluetooth USER, then log in again), or allow it in "
        + "/etc/dbus-1/system.d/bluetooth.conf."
}

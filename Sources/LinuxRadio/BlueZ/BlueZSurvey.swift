import BeaconModel
public import BeaconRadio

/// What there is of BlueZ on this machine, for whoever wants to use it or to know why that does not work.
public struct BlueZSurvey: Sendable {
    /// Why the bus cannot be used, or nil.
    public var busError: RadioError?

    /// Why bluetoothd cannot be used, or nil.
    public var daemonError: RadioError?

    /// Its adapters.
    public var adapters: [BlueZAdapter] = []

    /// The version of bluetoothd, where it tells one.
    public var version: String? { adapters.lazy.compactMap(\.version).first }

    /// Whether bluetoothd offers what it does with `--experimental`, or nil where no adapter tells.
    public var isExperimental: Bool? { adapters.isEmpty ? nil : adapters.contains { $0.monitoring != .none } }

    /// Looks, and waits for bluetoothd's answer; the bus starts bluetoothd where the system knows how to.
    ///
    /// - Parameters:
    ///   - address: where the bus is; nil for the system's.
    ///   - seconds: how long to wait at most.
    public static func take(at address: String? = nil, within seconds: UInt64 = 10) -> BlueZSurvey {
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

    /// The adapters.
    ///
    /// - Throws: why there is nobody to ask for them.
    func usableAdapters() throws(RadioError) -> [BlueZAdapter] {
        if let busError { throw busError }
        if let daemonError { throw daemonError }
        return adapters
    }

    private static func refusal(_ error: BusError) -> RadioError {
        if error.isDenial {
            return RadioError(
                .notPermitted, "this user may not talk to bluetoothd: \(error). \(BlueZ.accessRemedy)")
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

public import BeaconRadio
import BeaconSupport
import CLibrary

/// The choice of drivers for the adapters that a user selected.
package enum AdapterChoice {
    /// At least one opened driver.
    ///
    /// - Throws: an error with the missing part and the command that fixes it.
    package static func drivers(for selection: RadioSelection) throws(RadioError) -> [any ReceiverDriver] {
        switch selection.way {
        case .hci: return try rawHCI(selection.adapters)
        case .bluez: return try BlueZDriver.open(selection.adapters)
        case .auto: return try either(selection.adapters)
        }
    }

    /// Drivers for raw HCI if this process may use it, since it receives every advert; otherwise for bluetoothd, which
    /// a container or a user without privileges may still reach.
    private static func either(_ names: [AdapterName]) throws(RadioError) -> [any ReceiverDriver] {
        let first: RadioError
        do throws(RadioError) {
            return try rawHCI(names)
        } catch {
            first = error
        }
        do throws(RadioError) {
            return try BlueZDriver.open(names)
        } catch {
            throw RadioError(
                first.code,
                "no radio can be used. By raw HCI: \(first.message.sentence) By way of bluetoothd: "
                    + "\(error.message.sentence) Run beacon doctor for details.")
        }
    }

    /// Adapters for raw HCI: those named, or the first that is switched on, or the first.
    private static func rawHCI(_ names: [AdapterName]) throws(RadioError) -> [any ReceiverDriver] {
        let all: [LocalAdapter]
        do throws(HCISystemError) {
            all = try LocalAdapter.all()
        } catch {
            throw HCIPermission.error(error, adapter: nil)
        }
        guard let first = all.first(where: \.isUp) ?? all.first else {
            throw RadioError(
                .unsupported,
                "there is no Bluetooth adapter. Plug one in. If there is one, check the kernel's log: dmesg | grep -i blue"
            )
        }
        if names.isEmpty { return [try driver(first, named: nil)] }
        var drivers: [any ReceiverDriver] = []
        for name in names {
            guard let adapter = all.first(where: { $0.isNamed(name) }) else {
                let there = all.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
                throw RadioError(.unsupported, "there is no adapter \(name). There are \(there).")
            }
            drivers.append(try driver(adapter, named: name))
        }
        return drivers
    }

    private static func driver(_ adapter: LocalAdapter, named name: AdapterName?) throws(RadioError) -> HCIDriver {
        do throws(HCISystemError) {
            return try HCIDriver(adapter, named: name)
        } catch {
            throw HCIPermission.error(error, adapter: adapter.name)
        }
    }
}

extension SourceReader {
    /// Reads from an open socket that behaves like a raw HCI socket, for measurements and tests without an adapter.
    ///
    /// - Parameters:
    ///   - hciSocket: the descriptor, which is closed with the reader.
    ///   - mode: the scan mode to begin with.
    ///   - report: called with states and notices, on the reading thread.
    @_spi(Measurement)
    public init(
        hciSocket: Int32, mode: ScanMode, report: @escaping (SourceEvent) -> Void
    ) throws(RadioError) {
        self.init([try HCIDriver.lent(hciSocket)], mode: mode, report: report)
    }
}

/// The delegate of a central manager, which receives its events.
///
/// As in Apple's SDK, only the first method is required. The methods for connections are never called here.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// Reports that the state of Bluetooth became known or changed. Called once soon after a manager is created.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// Reports that iOS restores the manager. Never called.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// Reports that a device was discovered.
    ///
    /// - Parameters:
    ///   - central: the scanning manager.
    ///   - peripheral: the device.
    ///   - advertisementData: the content of its adverts, by the keys that begin with `CBAdvertisementData`.
    ///   - RSSI: the signal strength in dBm; 127 if unknown.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// Reports that a device was connected. Never called.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// Reports that a device could not be connected. Never called.
    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// Reports that a connection ended. Never called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

    /// Reports that a connection ended and may be restored automatically. Never called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// Reports that a connection started or ended. Never called.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// Reports that a device's permission to read the notification center changed. Never called.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

// The default implementations, which stand for "not implemented".
public extension CBCentralManagerDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {}
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {}
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}

/// The seconds since January 1, 2001.
///
/// Foundation does not export this Core Foundation type outside Apple's systems, but a callback of
/// ``CBCentralManagerDelegate`` has it in its signature.
public typealias CFAbsoluteTime = CFTimeInterval

/// Returns the current time in seconds since January 1, 2001.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// Core Foundation's name for seconds.
public typealias CFTimeInterval = Double

// Support for optional calls, `delegate?.method?(…)`, which Apple's protocols allow. Every delegate has every method
// here, at least a default that does nothing, so these calls are never skipped.
extension CBCentralManagerDelegate {
    /// The methods with this name, for optional calls.
    public var centralManager: CBCentralManagerDelegateCalls? { CBCentralManagerDelegateCalls(self) }
}

/// The methods named `centralManager` of a ``CBCentralManagerDelegate``, for optional calls.
public struct CBCentralManagerDelegateCalls {
    private let delegate: any CBCentralManagerDelegate

    init(_ delegate: any CBCentralManagerDelegate) { self.delegate = delegate }
}

public extension CBCentralManagerDelegateCalls {
    func callAsFunction(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        delegate.centralManager(central, willRestoreState: dict)
    }
    func callAsFunction(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        delegate.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
    }
    func callAsFunction(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        delegate.centralManager(central, didConnect: peripheral)
    }
    func callAsFunction(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        delegate.centralManager(central, didFailToConnect: peripheral, error: error)
    }
    func callAsFunction(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        delegate.centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }
    func callAsFunction(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        delegate.centralManager(
            central, didDisconnectPeripheral: peripheral, timestamp: timestamp, isReconnecting: isReconnecting,
            error: error)
    }
    func callAsFunction(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        delegate.centralManager(central, connectionEventDidOccur: event, for: peripheral)
    }
    func callAsFunction(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        delegate.centralManager(central, didUpdateANCSAuthorizationFor: peripheral)
    }
}

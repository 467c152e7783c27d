/// The receiver of a central manager's events.
///
/// As in Apple's SDK only the first method is required. Those of connections are never called here.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// Reports that the state of Bluetooth became known, or changed. Called once soon after a manager is made.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// Reports that iOS restores the manager. Never called.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// Reports that a device was found.
    ///
    /// - Parameters:
    ///   - central: the manager that scans.
    ///   - peripheral: the device.
    ///   - advertisementData: what its adverts say, by the keys that begin with `CBAdvertisementData`.
    ///   - RSSI: the signal strength in dBm; 127 where it is not known.
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

    /// Reports that a connection ended, and may come back by itself. Never called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// Reports that a connection began or ended. Never called.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// Reports that a device's permission to read the notification centre changed. Never called.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

// The defaults that stand for "not implemented".
extension CBCentralManagerDelegate {
    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}

/// Seconds since the first of January 2001.
///
/// Core Foundation's name, which Foundation does not pass on outside Apple's systems; a callback of
/// ``CBCentralManagerDelegate`` has it in its signature.
public typealias CFAbsoluteTime = CFTimeInterval

/// Returns the present moment, in seconds since the beginning of 2001.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// Core Foundation's name for seconds.
public typealias CFTimeInterval = Double

// Calls of optional methods, `delegate?.method?(…)`, which Apple's protocols allow. Every delegate has every method
// here, if only a default that does nothing, so that no such call is ever skipped.
extension CBCentralManagerDelegate {
    /// The methods of this name, to call optionally.
    public var centralManager: CBCentralManagerDelegateCalls? { CBCentralManagerDelegateCalls(self) }
}

/// The methods `centralManager` of a ``CBCentralManagerDelegate``, as an optional call has them.
public struct CBCentralManagerDelegateCalls {
    private let delegate: any CBCentralManagerDelegate

    init(_ delegate: any CBCentralManagerDelegate) { self.delegate = delegate }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:willRestoreState:)``.
    public func callAsFunction(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        delegate.centralManager(central, willRestoreState: dict)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didDiscover:advertisementData:rssi:)``.
    public func callAsFunction(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        delegate.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didConnect:)``.
    public func callAsFunction(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        delegate.centralManager(central, didConnect: peripheral)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didFailToConnect:error:)``.
    public func callAsFunction(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        delegate.centralManager(central, didFailToConnect: peripheral, error: error)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didDisconnectPeripheral:error:)``.
    public func callAsFunction(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        delegate.centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)``.
    public func callAsFunction(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        delegate.centralManager(
            central, didDisconnectPeripheral: peripheral, timestamp: timestamp, isReconnecting: isReconnecting,
            error: error)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:connectionEventDidOccur:for:)``.
    public func callAsFunction(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        delegate.centralManager(central, connectionEventDidOccur: event, for: peripheral)
    }

    /// Calls ``CBCentralManagerDelegate/centralManager(_:didUpdateANCSAuthorizationFor:)``.
    public func callAsFunction(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        delegate.centralManager(central, didUpdateANCSAuthorizationFor: peripheral)
    }
}

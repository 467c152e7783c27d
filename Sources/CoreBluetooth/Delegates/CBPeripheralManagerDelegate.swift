/// The delegate of a peripheral manager, which receives its events.
///
/// As in Apple's SDK, only the first method is required. The others have defaults that do nothing, since Swift has
/// optional methods only with the Objective-C runtime. A method in a subclass of the class that declares the
/// conformance is not called, nor is a method whose signature differs in any way.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// Reports that the state of Bluetooth became known or changed. Called once soon after a manager is created.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

    /// Reports that iOS restores the manager. Never called: nothing is restored here.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

    /// Reports that advertising started or failed to start. The error is nil or a ``CBError``.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)

    /// Reports that a service was added or could not be added. The error is nil or a ``CBError``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

    /// Reports that a central subscribed to notifications. Never called: no central connects here.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)

    /// Reports that a central unsubscribed from notifications. Never called: no central connects here.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)

    /// Reports that the queue for notifications has space again. Never called: no central connects here.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

    /// Reports a central's request to read. Never called: no central connects here.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

    /// Reports a central's requests to write. Never called: no central connects here.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

    /// Reports that a channel was published or could not be published. Never called.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// Reports that a channel is no longer published. Never called.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// Reports that a channel was opened. Never called.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

// The default implementations, which stand for "not implemented".
public extension CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) {}
}

// Support for optional calls, `delegate?.method?(…)`, which Apple's protocols allow. Every delegate has every method
// here, at least a default that does nothing, so these calls are never skipped.
extension CBPeripheralManagerDelegate {
    /// The methods with this name, for optional calls.
    public var peripheralManager: CBPeripheralManagerDelegateCalls? { CBPeripheralManagerDelegateCalls(self) }

    /// The method with this name, for optional calls.
    public var peripheralManagerDidStartAdvertising: CBPeripheralManagerDidStartAdvertisingCall? {
        CBPeripheralManagerDidStartAdvertisingCall(self)
    }

    /// The method with this name, for optional calls.
    public var peripheralManagerIsReady: CBPeripheralManagerIsReadyCall? { CBPeripheralManagerIsReadyCall(self) }
}

/// The methods named `peripheralManager` of a ``CBPeripheralManagerDelegate``, for optional calls.
public struct CBPeripheralManagerDelegateCalls {
    private let delegate: any CBPeripheralManagerDelegate

    init(_ delegate: any CBPeripheralManagerDelegate) { self.delegate = delegate }
}

public extension CBPeripheralManagerDelegateCalls {
    func callAsFunction(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        delegate.peripheralManager(peripheral, willRestoreState: dict)
    }
    func callAsFunction(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        delegate.peripheralManager(peripheral, didAdd: service, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        delegate.peripheralManager(peripheral, central: central, didSubscribeTo: characteristic)
    }
    func callAsFunction(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        delegate.peripheralManager(peripheral, central: central, didUnsubscribeFrom: characteristic)
    }
    func callAsFunction(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        delegate.peripheralManager(peripheral, didReceiveRead: request)
    }
    func callAsFunction(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        delegate.peripheralManager(peripheral, didReceiveWrite: requests)
    }
    func callAsFunction(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        delegate.peripheralManager(peripheral, didPublishL2CAPChannel: PSM, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        delegate.peripheralManager(peripheral, didUnpublishL2CAPChannel: PSM, error: error)
    }
    func callAsFunction(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        delegate.peripheralManager(peripheral, didOpen: channel, error: error)
    }
}

/// The method named `peripheralManagerDidStartAdvertising` of a ``CBPeripheralManagerDelegate``, for optional calls.
public struct CBPeripheralManagerDidStartAdvertisingCall {
    private let delegate: any CBPeripheralManagerDelegate

    init(_ delegate: any CBPeripheralManagerDelegate) { self.delegate = delegate }
}

public extension CBPeripheralManagerDidStartAdvertisingCall {
    func callAsFunction(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        delegate.peripheralManagerDidStartAdvertising(peripheral, error: error)
    }
}

/// The method named `peripheralManagerIsReady` of a ``CBPeripheralManagerDelegate``, for optional calls.
public struct CBPeripheralManagerIsReadyCall {
    private let delegate: any CBPeripheralManagerDelegate

    init(_ delegate: any CBPeripheralManagerDelegate) { self.delegate = delegate }
}

public extension CBPeripheralManagerIsReadyCall {
    func callAsFunction(toUpdateSubscribers peripheral: CBPeripheralManager) {
        delegate.peripheralManagerIsReady(toUpdateSubscribers: peripheral)
    }
}

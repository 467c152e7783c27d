/// The delegate of a peripheral. Nothing connects here, so its methods are never called; the protocol exists so that
/// conforming classes compile.
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// Reports that the device has a new name.
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)

    /// Reports that the device's services changed.
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])

    /// Reports the signal strength that was read, in dBm.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)

    /// Reports that the signal strength was read. Apple replaced it with the method above.
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)

    /// Reports that services were found.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)

    /// Reports that services within a service were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)

    /// Reports that characteristics were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)

    /// Reports that a value was read, or changed.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)

    /// Reports that a value was written.
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)

    /// Reports that notifications were enabled or disabled.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)

    /// Reports that descriptors were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)

    /// Reports that a descriptor was read.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// Reports that a descriptor was written.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// Reports that writes without response can be sent again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)

    /// Reports that a channel was opened.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)

    /// Reports a measured distance.
    func peripheral(
        _ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?, error: (any Error)?)

    /// Reports the end of the measurements.
    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?)
}

// The default implementations, which stand for "not implemented".
public extension CBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {}
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}
    func peripheral(
        _ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?, error: (any Error)?
    ) {}
    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {}
}

// Support for optional calls, `delegate?.method?(…)`, which Apple's protocols allow. Every delegate has every method
// here, at least a default that does nothing, so these calls are never skipped.
extension CBPeripheralDelegate {
    /// The methods with this name, for optional calls.
    public var peripheral: CBPeripheralDelegateCalls? { CBPeripheralDelegateCalls(self) }

    /// The method with this name, for optional calls.
    public var peripheralIsReady: CBPeripheralIsReadyCall? { CBPeripheralIsReadyCall(self) }

    /// The method with this name, for optional calls.
    public var peripheralDidUpdateName: ((CBPeripheral) -> Void)? {
        { self.peripheralDidUpdateName($0) }
    }
}

/// The methods named `peripheral` of a ``CBPeripheralDelegate``, for optional calls.
public struct CBPeripheralDelegateCalls {
    private let delegate: any CBPeripheralDelegate

    init(_ delegate: any CBPeripheralDelegate) { self.delegate = delegate }
}

public extension CBPeripheralDelegateCalls {
    func callAsFunction(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        delegate.peripheral(peripheral, didModifyServices: invalidatedServices)
    }
    func callAsFunction(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        delegate.peripheral(peripheral, didReadRSSI: RSSI, error: error)
    }
    func callAsFunction(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        delegate.peripheral(peripheral, didDiscoverServices: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateValueFor: characteristic, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didWriteValueFor: characteristic, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateValueFor: descriptor, error: error)
    }
    func callAsFunction(
        _ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didWriteValueFor: descriptor, error: error)
    }
    func callAsFunction(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        delegate.peripheral(peripheral, didOpen: channel, error: error)
    }
}

/// The method named `peripheralIsReady` of a ``CBPeripheralDelegate``, for optional calls.
public struct CBPeripheralIsReadyCall {
    private let delegate: any CBPeripheralDelegate

    init(_ delegate: any CBPeripheralDelegate) { self.delegate = delegate }
}

public extension CBPeripheralIsReadyCall {
    func callAsFunction(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }
}

import CoreBluetooth
import Testing

@Suite struct CBErrorTests {
    @Test("The codes have Apple's numbers")
    func codes() {
        let all: [CBError.Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
        #expect(all.map(\.rawValue) == Array(0...18))
        #expect(CBError.Code.unkownDevice == .unknownDevice)
    }

    @Test("The codes of the Attribute Protocol have its numbers")
    func attributeCodes() {
        let all: [CBATTError.Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu,
            .insufficientAuthentication, .requestNotSupported, .invalidOffset, .insufficientAuthorization,
            .prepareQueueFull, .attributeNotFound, .attributeNotLong, .insufficientEncryptionKeySize,
            .invalidAttributeValueLength, .unlikelyError, .insufficientEncryption, .unsupportedGroupType,
            .insufficientResources,
        ]
        #expect(all.map(\.rawValue) == Array(0...17))
    }

    @Test("An error has the shape of an imported one")
    func shape() {
        let error: any Error = CBError(.alreadyAdvertising)
        #expect((error as? CBError)?.code == .alreadyAdvertising)
        #expect((error as NSError).code == 9)
        #expect((error as NSError).domain == "CBErrorDomain")
        #expect(CBErrorDomain == "CBErrorDomain")
        #expect(CBATTErrorDomain == "CBATTErrorDomain")
        #expect((CBATTError(.invalidOffset) as NSError).domain == "CBATTErrorDomain")
        do {
            throw error
        } catch CBError.alreadyAdvertising {
        } catch {
            Issue.record("\(error) is not caught by its code")
        }
        do {
            throw CBATTError(.readNotPermitted)
        } catch CBATTError.readNotPermitted {
        } catch {
            Issue.record("\(error) is not caught by its code")
        }
    }
}

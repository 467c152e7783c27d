import BeaconSupport
import CoreBluetooth

/// A delegate that records its callbacks as text.
final class Witness: NSObject, CBPeripheralManagerDelegate, CBCentralManagerDelegate, Sendable {
    private let log = Locked<[String]>([])
    private let onState: @Sendable (CBPeripheralManager) -> Void

    /// - Parameter onState: the app's action when it receives the state.
    init(onState: @escaping @Sendable (CBPeripheralManager) -> Void = { _ in }) { self.onState = onState }

    /// Returns the callbacks since the last call.
    func words() -> [String] {
        log.withLock { words in
            defer { words = [] }
            return words
        }
    }

    private func note(_ word: String) { log.withLock { $0.append(word) } }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        note("\(peripheral.state)")
        onState(peripheral)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        note(Self.word("started", error) + (peripheral.isAdvertising ? ", advertising" : ""))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        note(Self.word("added \(service.uuid.uuidString)", error))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        note(Self.word("published", error))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        note(Self.word("unpublished \(PSM)", error))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { note("\(central.state)") }

    /// An error that is not a real CBError is marked as strange.
    private static func word(_ what: String, _ error: (any Error)?) -> String {
        guard let error else { return what }
        guard let error = error as? CBError else { return "strange \(error)" }
        return "\(what): \(error.code)"
    }
}

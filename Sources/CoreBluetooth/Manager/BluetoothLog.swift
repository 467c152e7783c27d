import BeaconRadio
import BeaconService
internal import Logging

/// What Core Bluetooth has to say to whoever develops the app.
enum BluetoothLog {
    /// Made anew for each line, which are few, so that it goes where the program sends its log by then.
    private static var logger: Logger { Logger(label: "swift-beacon.bluetooth") }

    private static let told = Locked<Set<String>>([])

    /// A command came in a state in which it cannot be taken. The words are those that developers know from Apple's log.
    static func misuse(of manager: CBManager) {
        logger.error("API MISUSE: \(name(of: manager)) can only accept this command while in the powered on state")
    }

    static func warn(_ manager: CBManager, _ remark: String) { logger.warning("\(name(of: manager)): \(remark)") }

    /// Says once in the life of the process that something is not there.
    static func once(_ remark: String) {
        if told.withLock({ $0.insert(remark).inserted }) { logger.warning("\(remark)") }
    }

    /// Class and address, as Apple's descriptions have them.
    private static func name(of manager: CBManager) -> String {
        let address = UInt(bitPattern: ObjectIdentifier(manager))
        return "<\(type(of: manager)): 0x\(String(address, radix: 16))>"
    }
}

import BeaconSupport
internal import Logging

/// The log of Core Bluetooth for an app's developers.
enum BluetoothLog {
    /// Made anew for each line, which are few, so that it reaches the log that the program has set up by then.
    private static var logger: Logger { Logger(label: "swift-beacon.bluetooth") }

    private static let reported = Locked<Set<String>>([])

    /// Logs a command that came in a state in which it cannot be accepted. The words are those that developers know
    /// from Apple's log.
    static func misuse(of manager: CBManager) {
        logger.error("API MISUSE: \(name(of: manager)) can only accept this command while in the powered on state")
    }

    static func warn(_ remark: String, about manager: CBManager) { logger.warning("\(name(of: manager)): \(remark)") }

    /// Says once in the life of the process that something is not there.
    static func once(_ remark: String) {
        if reported.withLock({ $0.insert(remark).inserted }) { logger.warning("\(remark)") }
    }

    /// Returns class and address, as Apple's descriptions have them.
    private static func name(of manager: CBManager) -> String {
        let address = UInt(bitPattern: ObjectIdentifier(manager))
        return "<\(type(of: manager)): 0x\(String(address, radix: 16))>"
    }
}

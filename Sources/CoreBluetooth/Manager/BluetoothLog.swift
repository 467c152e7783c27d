import BeaconSupport
internal import Logging

/// The log of Core Bluetooth for app developers.
enum BluetoothLog {
    /// Created for each line, so that it uses the log handler that the program has set up by then. There are few lines.
    private static var logger: Logger { Logger(label: "swift-beacon.bluetooth") }

    private static let reported = Locked<Set<String>>([])

    /// Logs a command that is not accepted in the present state. The text is the same as in Apple's log.
    static func misuse(of manager: CBManager) {
        logger.error("API MISUSE: \(name(of: manager)) can only accept this command while in the powered on state")
    }

    static func warn(_ remark: String, about manager: CBManager) { logger.warning("\(name(of: manager)): \(remark)") }

    /// Logs a remark once per process.
    static func once(_ remark: String) {
        if reported.withLock({ $0.insert(remark).inserted }) { logger.warning("\(remark)") }
    }

    /// Returns the class and address, as in Apple's descriptions.
    private static func name(of manager: CBManager) -> String {
        let address = UInt(bitPattern: ObjectIdentifier(manager))
        return "<\(type(of: manager)): 0x\(String(address, radix: 16))>"
    }
}

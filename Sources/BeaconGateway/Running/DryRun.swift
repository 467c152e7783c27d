import BeaconDelivery
import Foundation

/// Prints what would be sent, a line of JSON for each destination that would get it, and sends nothing.
struct DryRun: NotificationTaker {
    private struct Line: Encodable {
        var destination: String
        var notification: BeaconNotification
    }

    let addressees: [Addressee]
    let print: @Sendable ([UInt8]) -> Void

    func take(_ notifications: [BeaconNotification]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for notification in notifications {
            for addressee in addressees where addressee.destination.wants(notification) {
                let line = Line(
                    destination: addressee.destination.name,
                    notification: addressee.filter.apply(to: notification))
                print(Array(try encoder.encode(line)) + [UInt8(ascii: "\n")])
            }
        }
    }
}

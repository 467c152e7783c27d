import BeaconModel
import Foundation

/// A notification's name as the key of a row.
enum NotificationKey {
    static func bytes(of id: NotificationID) -> Data {
        withUnsafeBytes(of: (id.value.high.bigEndian, id.value.low.bigEndian)) { Data($0) }
    }
}

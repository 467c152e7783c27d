import CoreLocation
import Testing

let deployment = UUID(
    uuid: (0x39, 0xED, 0x98, 0xFF, 0x29, 0, 0x44, 0x1A, 0x80, 0x2F, 0x9C, 0x39, 0x8F, 0xC1, 0x99, 0xD2))

/// Returns `object` after encoding and decoding it in a secure archive.
func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data))
}

package import BeaconModel

/// The adverts in a message of ESPHome's native API (`BluetoothLERawAdvertisementsResponse`).
package enum ESPHomeAdverts {
    /// Calls a function with each advert.
    ///
    /// - Parameters:
    ///   - content: the message.
    ///   - body: receives the device's address, the signal strength in dBm, and the AD structures.
    /// - Returns: false if the message is damaged. The adverts before the damage have been delivered.
    @inline(__always)
    package static func forEach(
        in content: RawSpan, _ body: (_ address: DeviceAddress, _ rssi: Int, _ advert: RawSpan) throws -> Void
    ) rethrows -> Bool {
        try content.forEachField(in: 0..<content.byteCount) { field, value in
            guard field == 1, case .bytes(let range) = value else { return true }
            var (address, rssi, kind): (UInt64, Int64, UInt64) = (0, 0, 0)
            var data = 0..<0
            let isWhole = content.forEachField(in: range) { field, value in
                switch (field, value) {
                case (1, .number(let number)): address = number
                case (2, .number(let number)): rssi = Int64(zigzag: number)
                case (3, .number(let number)): kind = number
                case (4, .bytes(let range)): data = range
                case (1...4, _): return false
                default: break
                }
                return true
            }
            guard isWhole else { return false }
            try body(
                DeviceAddress(
                    bits: address, kind: DeviceAddress.Kind(rawValue: UInt8(truncatingIfNeeded: kind)) ?? .unspecified),
                Int(clamping: rssi), content.extracting(data))
            return true
        }
    }

    /// Appends an advert to the content of a message.
    package static func append(
        address: DeviceAddress, rssi: Int, advert: [UInt8], to content: inout [UInt8]
    ) {
        var one: [UInt8] = []
        one.append(field: 1, address.bits)
        one.append(field: 2, Int64(rssi).zigzag)
        one.append(field: 3, UInt64(address.kind.rawValue))
        one.append(field: 4, bytes: advert)
        content.append(field: 1, bytes: one)
    }
}

import BeaconModel

/// HCI packets as a controller sends them (Core Specification 5.3, Vol 4, Part E, 7.7), from the type byte on.
enum Packets {
    /// Returns one advert in a report of a legacy scan.
    static func legacy(_ advert: [UInt8], address: UInt8 = 1, rssi: Int8 = -60) -> [UInt8] {
        event(0x3E, [0x02, 1] + report(advert, address: address, rssi: rssi))
    }

    /// Returns several adverts in one report of a legacy scan.
    static func several(_ adverts: [[UInt8]]) -> [UInt8] {
        event(0x3E, [0x02, UInt8(adverts.count)] + adverts.flatMap { report($0, address: 1, rssi: -60) })
    }

    private static func report(_ advert: [UInt8], address: UInt8, rssi: Int8) -> [UInt8] {
        [3, 1, address, 0, 0, 0, 0, 0xC0, UInt8(advert.count)] + advert + [UInt8(bitPattern: rssi)]
    }

    /// Returns one advert in a report of an extended scan.
    ///
    /// - Parameter type: 0x10 for a legacy PDU; bits 5 and 6 show whether more follows.
    static func extended(_ advert: [UInt8], type: UInt8 = 0x10) -> [UInt8] {
        let head: [UInt8] = [type, 0, 1, 1, 0, 0, 0, 0, 0xC0, 1, 0, 0xFF, 0x7F, 0xC4, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        return event(0x3E, [0x0D, 1] + head + [UInt8(advert.count)] + advert)
    }

    /// Returns the answer to a command, with a status and return parameters.
    static func complete(_ opcode: UInt16, status: UInt8 = 0, _ returned: [UInt8] = []) -> [UInt8] {
        event(0x0E, [1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), status] + returned)
    }

    static func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [0x04, code, UInt8(parameters.count)] + parameters
    }

    /// Returns the 30 bytes of an iBeacon's advert.
    static func beacon(_ uuid: ProximityUUID, minor: UInt16 = 1) -> [UInt8] {
        IBeaconFrame(identity: BeaconIdentity(uuid: uuid, major: 1, minor: minor), measuredPower: -59).advert
    }
}

import BeaconModel

@testable import LinuxRadio

/// A device that a stand-in for bluetoothd tells of.
final class StandInDevice {
    let path: String
    let address: String
    let addressType: String
    let company: UInt16
    let data: [UInt8]
    var rssi: Int16?

    init(
        _ address: String, on adapter: String = "hci0", addressType: String = "random", company: UInt16 = 0x4C,
        data: [UInt8], rssi: Int16? = nil
    ) {
        path = "/org/bluez/\(adapter)/dev_\(address.split(separator: ":").joined(separator: "_"))"
        self.address = address
        self.addressType = addressType
        self.company = company
        self.data = data
        self.rssi = rssi
    }

    /// A device that sends a frame.
    convenience init(
        _ address: String, _ frame: IBeaconFrame, on adapter: String = "hci0", addressType: String = "random",
        rssi: Int16? = nil
    ) {
        self.init(address, on: adapter, addressType: addressType, data: Array(frame.advert[7...]), rssi: rssi)
    }

    var interface: BusInterface {
        var properties = [
            BusProperty(name: "Address", type: "s") { [address] message throws(BusError) in try message.append(address)
            },
            BusProperty(name: "AddressType", type: "s") { [addressType] message throws(BusError) in
                try message.append(addressType)
            },
            BusProperty(name: "ManufacturerData", type: "a{qv}") { [company, data] message throws(BusError) in
                try message.appendArray(of: "{qv}") { () throws(BusError) in
                    try message.appendEntry("qv") { () throws(BusError) in
                        try message.append(company)
                        try message.appendVariant("ay") { () throws(BusError) in try message.append(data) }
                    }
                }
            },
        ]
        if let rssi {
            properties.append(
                BusProperty(name: "RSSI", type: "n") { message throws(BusError) in try message.append(rssi) })
        }
        return BusInterface(name: "org.bluez.Device1", properties: properties)
    }
}

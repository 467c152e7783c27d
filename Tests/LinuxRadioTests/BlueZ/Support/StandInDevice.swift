import BeaconModel

@testable import LinuxRadio

/// A device of the stand-in for bluetoothd.
final class StandInDevice {
    let path: String
    let address: String
    let addressType: String
    let company: UInt16
    let data: [UInt8]
    var rssi: Int16?
    var name: String?
    var services: [String] = []
    var serviceData: [String: [UInt8]] = [:]
    var power: Int16?

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

    /// Creates a device that sends a frame.
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
        if let name {
            properties.append(
                BusProperty(name: "Name", type: "s") { message throws(BusError) in try message.append(name) })
        }
        if let power {
            properties.append(
                BusProperty(name: "TxPower", type: "n") { message throws(BusError) in try message.append(power) })
        }
        if !services.isEmpty {
            properties.append(
                BusProperty(name: "UUIDs", type: "as") { [services] message throws(BusError) in
                    try message.appendArray(of: "s") { () throws(BusError) in
                        for service in services { try message.append(service) }
                    }
                })
        }
        if !serviceData.isEmpty {
            properties.append(
                BusProperty(name: "ServiceData", type: "a{sv}") { [serviceData] message throws(BusError) in
                    try message.appendArray(of: "{sv}") { () throws(BusError) in
                        for (service, data) in serviceData {
                            try message.appendEntry("sv") { () throws(BusError) in
                                try message.append(service)
                                try message.appendVariant("ay") { () throws(BusError) in try message.append(data) }
                            }
                        }
                    }
                })
        }
        return BusInterface(name: "org.bluez.Device1", properties: properties)
    }
}

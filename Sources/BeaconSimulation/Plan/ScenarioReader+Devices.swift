import BeaconModel

/// Devices that are not beacons.
extension ScenarioReader {
    /// Reads the devices of a scenario.
    func devices(from list: ScenarioValue?) throws -> [DevicePlan] {
        var devices: [DevicePlan] = []
        for value in try list?.list(atMost: Self.maximumSenders) ?? [] {
            var object = try value.object()
            let localName = try object.take("localName")?.text()
            let services = try services(from: object.take("services"))
            let power = try object.take("power")?.number(in: -128...20, unit: "dBm") ?? -65
            let placement = try placement(from: &object)
            let (interval, jitter) = try intervalAndJitter(from: &object, interval: 100_000_000)
            let addressing = try addressing(from: &object)
            let onTimes = try onTimes(from: object.take("on"))
            try object.finish()
            devices.append(
                DevicePlan(
                    key: "device \(devices.count)", localName: localName, services: services, power: power,
                    placement: placement, interval: interval, jitter: jitter, addressing: addressing,
                    onTimes: onTimes))
        }
        return devices
    }

    /// Reads a list of services.
    func services(from list: ScenarioValue?) throws -> [ServiceUUID] {
        try list?.list(atMost: 20).map { value in
            guard let service = ServiceUUID(try value.text()) else {
                throw value.invalid("is not a service UUID; write 4 hexadecimal digits, or 32 as 8-4-4-4-12")
            }
            return service
        } ?? []
    }
}

internal import BeaconModel

/// The devices that an app scans for, and how often each is reported.
struct ScanRequest: Sendable {
    /// The services of which a device must have one; empty for any device.
    var services: Set<ServiceUUID>

    /// The services of which a device must solicit one; empty if that does not matter.
    var solicitedServices: Set<ServiceUUID>

    /// True to report each advert, false to report each device once.
    var allowsDuplicates: Bool

    /// Creates a request. Options whose types differ from Apple's are ignored.
    init(services: [CBUUID]?, options: [String: Any]?) {
        self.services = Set((services ?? []).compactMap(\.service))
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        solicitedServices = Set((solicited ?? []).compactMap(\.service))
        let duplicates = options?[CBCentralManagerScanOptionAllowDuplicatesKey]
        allowsDuplicates = (duplicates as? NSNumber)?.boolValue ?? duplicates as? Bool ?? false
    }

    /// Returns true if a device matches the request.
    func matches(_ contents: AdvertContents) -> Bool {
        if services.isEmpty, solicitedServices.isEmpty { return true }
        return contents.services.contains(where: services.contains)
            || contents.solicitedServices.contains(where: solicitedServices.contains)
    }
}

extension CBUUID {
    /// The UUID in the form of adverts.
    var service: ServiceUUID? { ServiceUUID(bytes: data) }

    /// Creates a UUID from an advert's, in its shortest form.
    convenience init(_ service: ServiceUUID) { self.init(data: Data(service.bytes)) }
}

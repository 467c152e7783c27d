internal import BeaconModel

/// The devices that an app looks for, and how often it wants to hear of each.
struct ScanRequest: Sendable {
    /// The services of which a device has to have one; none for any device.
    var services: Set<ServiceUUID>

    /// The services of which a device has to look for one; none where that does not matter.
    var solicitedServices: Set<ServiceUUID>

    /// True to report each advert, false to report each device once.
    var allowsDuplicates: Bool

    /// Reads a request. Options of other types than Apple's are taken for missing.
    init(services: [CBUUID]?, options: [String: Any]?) {
        self.services = Set((services ?? []).compactMap(\.service))
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        solicitedServices = Set((solicited ?? []).compactMap(\.service))
        let duplicates = options?[CBCentralManagerScanOptionAllowDuplicatesKey]
        allowsDuplicates = (duplicates as? NSNumber)?.boolValue ?? duplicates as? Bool ?? false
    }

    /// Returns true for a device that is looked for.
    func matches(_ contents: AdvertContents) -> Bool {
        if services.isEmpty, solicitedServices.isEmpty { return true }
        return contents.services.contains(where: services.contains)
            || contents.solicitedServices.contains(where: solicitedServices.contains)
    }
}

extension CBUUID {
    /// The UUID as adverts have it.
    var service: ServiceUUID? { ServiceUUID(bytes: data) }

    /// Creates the UUID of an advert, in its shortest form.
    convenience init(_ service: ServiceUUID) { self.init(data: Data(service.bytes)) }
}

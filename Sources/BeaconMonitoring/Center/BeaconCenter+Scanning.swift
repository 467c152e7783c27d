extension BeaconCenter {
    /// Delivers the adverts of all devices to a client from now on, or no longer. Bluetooth needs no permission to know
    /// of places: what is heard says nothing of regions.
    package func scan(_ isScanning: Bool, for client: ClientID) {
        guard clients[client] != nil, clients[client]?.isScanning != isScanning else { return }
        clients[client]?.isScanning = isScanning
        update()
    }
}

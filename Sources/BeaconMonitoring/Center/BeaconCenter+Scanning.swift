extension BeaconCenter {
    /// Delivers the adverts of all devices to a client from now on, or no longer. The permission to know of places does
    /// not matter: Core Bluetooth has a permission of its own.
    package func scan(_ isScanning: Bool, for client: ClientID) {
        guard clients[client] != nil, clients[client]?.isScanning != isScanning else { return }
        clients[client]?.isScanning = isScanning
        update()
    }
}

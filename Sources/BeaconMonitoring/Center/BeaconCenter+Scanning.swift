extension BeaconCenter {
    /// Starts or stops the delivery of all devices' adverts to a client. The location permission does not matter: Core
    /// Bluetooth has a separate permission.
    package func scan(_ isScanning: Bool, for client: ClientID) {
        guard clients[client] != nil, clients[client]?.isScanning != isScanning else { return }
        clients[client]?.isScanning = isScanning
        update()
    }
}

import BeaconDelivery

/// Where the gateway's notifications go.
protocol NotificationTaker: Sendable {
    /// Takes notifications, in order. When it returns, they cannot be lost any more.
    ///
    /// - Throws: why it cannot; then none was taken.
    func take(_ notifications: [BeaconNotification]) async throws
}

import BeaconDelivery

/// Puts notifications into the outbox, from which they are delivered.
struct OutboxTaker: NotificationTaker {
    let delivery: DeliveryService<ContinuousClock>

    func take(_ notifications: [BeaconNotification]) async throws { try await delivery.append(notifications) }
}

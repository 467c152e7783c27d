import BeaconDelivery

/// Takes notifications that nobody wants: there are no destinations.
struct NoTaker: NotificationTaker {
    func take(_ notifications: [BeaconNotification]) {}
}

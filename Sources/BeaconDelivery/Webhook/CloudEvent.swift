import BeaconModel

/// A notification as a CloudEvent (CloudEvents 1.0.2, JSON format).
struct CloudEvent: Encodable {
    private let specversion = "1.0"
    private let id: NotificationID
    private let source: String
    private let type: String
    private let subject: String?
    private let time: String
    private let datacontenttype = "application/json"
    private let data: BeaconNotification

    init(_ notification: BeaconNotification, source: String, typePrefix: String) {
        id = notification.id
        self.source = source
        type = typePrefix + notification.kind.rawValue
        subject = notification.region?.name ?? notification.beacon?.description
        time = InternetTime.text(of: notification.time)
        data = notification
    }
}

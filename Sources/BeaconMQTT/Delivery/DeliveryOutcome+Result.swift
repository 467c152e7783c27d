import BeaconDelivery

extension DeliveryOutcome {
    /// What an outbox is told of a message that was published, or was not.
    init(_ result: Result<Void, MQTTError>) {
        switch result {
        case .success:
            self = .delivered
        case .failure(let error) where error.code == .invalidMessage:
            self = .refused(reason: error.description)
        case .failure(let error):
            switch error.reason {
            // These are about the message. A right that is missing is about the broker's configuration, which somebody may
            // mend before anything is lost.
            case .topicNameInvalid where error.code == .messageRefused,
                .payloadFormatInvalid where error.code == .messageRefused,
                .packetTooLarge where error.code == .messageRefused:
                self = .refused(reason: error.description)
            default:
                self = .retry(reason: error.description)
            }
        }
    }
}

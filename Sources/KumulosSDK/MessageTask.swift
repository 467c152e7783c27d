import BeaconDelivery
import BeaconMonitoring
import Foundation
import Logging

/// The taking of messages for as long as it lives.
final class MessageTask: Sendable {
    private let task: Task<Void, Never>?

    /// Begins to take messages, where the app wants them and there is an address to take them from.
    init(_ config: KSConfig, installID: String, logger: Logger) {
        guard let handler = config.pushOpenedHandler, let address = config.messagesAddress else {
            task = nil
            return
        }
        do {
            guard let url = URL(string: address) else {
                throw SinkError(.invalidURL, "the address of messages is not a URL")
            }
            let inbox = try KumulosInbox(
                KumulosSettings(
                    apiKey: Secret(config.apiKey), secretKey: Secret(config.secretKey), installID: installID,
                    baseURL: url), logger: logger)
            task = Task {
                await inbox.run { message in
                    // Where the app's main queue does not run, the message waits, and is not acknowledged.
                    await MainActor.run { handler.value(KSPushNotification(message)) }
                }
            }
        } catch {
            logger.error("no messages are taken: \(error)")
            task = nil
        }
    }

    deinit { task?.cancel() }
}

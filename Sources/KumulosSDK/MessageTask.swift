import BeaconDelivery
import BeaconMonitoring
import Foundation
import Logging

/// A task that receives messages while this object lives.
final class MessageTask: Sendable {
    private let task: Task<Void, Never>?

    /// Starts to receive messages if the app has a handler and an address is set.
    init(_ config: KSConfig, installID: String, logger: Logger) {
        guard let handler = config.pushOpenedHandler, let address = config.messagesAddress else {
            task = nil
            return
        }
        do {
            guard let url = URL(string: address) else {
                throw SinkError(.invalidURL, "the address for messages is not a URL")
            }
            let inbox = try KumulosInbox(
                KumulosSettings(
                    apiKey: Secret(config.apiKey), secretKey: Secret(config.secretKey), installID: installID,
                    baseURL: url), logger: logger)
            task = Task {
                await inbox.run { message in
                    // While the app's main queue does not run, the message waits and is not acknowledged.
                    await MainActor.run { handler.value(KSPushNotification(message)) }
                }
            }
        } catch {
            logger.error("cannot receive messages: \(error)")
            task = nil
        }
    }

    deinit { task?.cancel() }
}

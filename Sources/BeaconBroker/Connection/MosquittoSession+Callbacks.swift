import BeaconSupport
import CLibrary
import CMosquitto
import Logging

/// The callbacks of libmosquitto. The library calls them from within the calls of a session, on the session's thread.
extension MosquittoSession {
    private static func session(_ pointer: UnsafeMutableRawPointer?) -> MosquittoSession? {
        pointer.map { Unmanaged<MosquittoSession>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Sets the callbacks of the client structure.
    func setCallbacks() {
        library.connect_v5_callback_set(client) { _, pointer, code, _, properties in
            MosquittoSession.session(pointer)?.didAnswerConnection(code, properties)
        }
        library.disconnect_v5_callback_set(client) { _, pointer, code, properties in
            // Codes from 128 on are the broker's reasons; lower ones are the library's own.
            guard let reason = UInt8(exactly: code).map(MQTTReason.init(rawValue:)), reason.isFailure else { return }
            MosquittoSession.session(pointer)?.didRefuse(reason, properties)
        }
        library.publish_v5_callback_set(client) { _, pointer, request, code, _ in
            MosquittoSession.session(pointer)?.didAcknowledge(request, code)
        }
        library.subscribe_v5_callback_set(client) { _, pointer, request, count, granted, _ in
            guard count > 0, let granted else { return }
            MosquittoSession.session(pointer)?.didAcknowledge(request, granted[0])
        }
        library.unsubscribe_v5_callback_set(client) { _, pointer, request, _ in
            MosquittoSession.session(pointer)?.didAcknowledge(request, 0)
        }
        library.message_v5_callback_set(client) { _, pointer, message, properties in
            guard let message = message?.pointee else { return }
            MosquittoSession.session(pointer)?.didReceive(message, properties)
        }
        library.log_callback_set(client) { _, pointer, level, text in
            guard let text else { return }
            MosquittoSession.session(pointer)?.didLog(level, String(cString: text))
        }
    }

    private func didAnswerConnection(_ code: Int32, _ properties: OpaquePointer?) {
        let reason = MQTTReason(connectReturnCode: code)
        guard !reason.isFailure else { return didRefuse(reason, properties) }
        limits = BrokerLimits(properties, by: library)
        isAccepted = true
    }

    private func didRefuse(_ reason: MQTTReason, _ properties: OpaquePointer?) {
        refusal = reason
        var text: UnsafeMutablePointer<CChar>?
        guard library.property_read_string(properties, MQTT_PROP_REASON_STRING, &text, false) != nil, let text else {
            return
        }
        refusalText = String(cString: text).printable.prefix(bytes: 200)
        free(text)
    }

    private func didAcknowledge(_ request: Int32, _ code: Int32) {
        acknowledgements.append(Acknowledgement(request: request, reason: MQTTReason(rawValue: UInt8(clamping: code))))
    }

    private func didReceive(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        guard let topic = message.topic else { return }
        let size = Int(max(message.payloadlen, 0))
        // The library already holds two copies; do not make another one.
        guard size <= MQTTMessage.longestReceived else {
            return received.append(.messageTooLong(topic: String(cString: topic), size: size))
        }
        let payload = UnsafeRawBufferPointer(start: message.payload, count: size)
        received.append(
            .message(
                MQTTMessage(
                    topic: String(cString: topic), payload: Array(payload),
                    qualityOfService: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain,
                    id: id(in: properties))))
    }

    private func id(in properties: OpaquePointer?) -> String? {
        var found = properties
        var isFirst = true
        while true {
            var name: UnsafeMutablePointer<CChar>?
            var value: UnsafeMutablePointer<CChar>?
            found = library.property_read_string_pair(
                found, MQTT_PROP_USER_PROPERTY, &name, &value, !isFirst)
            guard found != nil, let name, let value else { return nil }
            defer {
                free(name)
                free(value)
            }
            if strcmp(name, "id") == 0 { return String(cString: value) }
            isFirst = false
        }
    }

    private func didLog(_ level: Int32, _ text: String) {
        // The library logs each complete packet.
        hasHeardPacket = true
        // Only this log contains OpenSSL's messages, and only now the connection still has the result of its check.
        if level == MOSQ_LOG_ERR, tlsMessage == nil {
            tlsMessage =
                beacon_mosquitto_refused_certificate(client).map { String(cString: $0) }
                ?? String(text.prefix { !$0.isNewline }).printable
        }
        logger.trace("libmosquitto: \(text)")
    }
}

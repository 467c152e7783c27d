package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    /// Sets the frame that is sent for a client. The outcome comes as an event; a frame that cannot be sent is taken
    /// back.
    ///
    /// - Parameters:
    ///   - frame: the frame; nil for none.
    ///   - client: the client.
    package func advertise(_ frame: IBeaconFrame?, for client: ClientID) {
        guard clients[client] != nil else { return }
        clients[client]?.frame = frame
        clients[client]?.isAnswered = false
        updateAdvertising()
        if let frame, radio?.advertiser == nil {
            // At once: a source that has ended, or waits for its next record, does not answer.
            let error =
                radio.map { $0.hasReceivers ? RadioError.receiversCannotSend : .cannotSend }
                ?? RadioError(.unsupported, "there is no radio to send with")
            answer(frame, .failure(error))
        } else if let frame, isSent(frame) {
            // Another client has the same frame on the air.
            answer(frame, .success(()))
        }
    }

    private func isSent(_ frame: IBeaconFrame) -> Bool {
        clients.values.contains { $0.frame == frame && $0.isAnswered }
    }

    /// Delivers the outcome of a frame to the clients that want it sent: a success to those that wait for it, a failure
    /// to all, whose frame is then taken back.
    func answer(_ frame: IBeaconFrame, _ result: Result<Void, RadioError>) {
        for id in clientOrder where clients[id]?.frame == frame {
            switch result {
            case .success:
                guard clients[id]?.isAnswered == false else { continue }
                clients[id]?.isAnswered = true
            case .failure:
                clients[id]?.frame = nil
            }
            deliver(.advertising(result), to: id)
        }
        updateAdvertising()
    }

    /// Has the radio send the frames of all clients, each once.
    func updateAdvertising() {
        var frames: [IBeaconFrame] = []
        for frame in clientOrder.compactMap({ clients[$0]?.frame }) where !frames.contains(frame) {
            frames.append(frame)
        }
        guard frames != advertised else { return }
        advertised = frames
        radio?.advertiser?.advertise(frames)
    }
}

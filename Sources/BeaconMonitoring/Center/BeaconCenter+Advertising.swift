package import BeaconModel
import BeaconRadio

extension BeaconCenter {
    /// Sets the advert that the radio sends for a client.
    ///
    /// The client receives the outcome as an event. If the radio cannot send the advert, the center removes it.
    ///
    /// - Parameters:
    ///   - advert: the advert; nil for none.
    ///   - client: the client.
    package func advertise(_ advert: OutgoingAdvert?, for client: ClientID) {
        guard clients[client] != nil else { return }
        clients[client]?.advert = advert
        clients[client]?.isAnswered = false
        updateAdvertising()
        if let advert, isMuted(advert) {
            // iOS reports success in the background, too.
            answer(advert, .success(()))
        } else if let advert, radio?.advertiser == nil {
            // At once, since a source that has ended or waits for its next record does not answer.
            let error =
                radio.map { $0.hasReceivers ? RadioError.receiversCannotSend : .cannotSend }
                ?? RadioError(.unsupported, "there is no radio to send with")
            answer(advert, .failure(error))
        } else if let advert, isSent(advert) {
            // Another client already sends the same advert.
            answer(advert, .success(()))
        }
    }

    private func isSent(_ advert: OutgoingAdvert) -> Bool {
        clients.values.contains { $0.advert == advert && $0.isAnswered }
    }

    /// Delivers the outcome of an advert to the clients that send it.
    ///
    /// Only clients that still wait for an outcome receive a success. All clients receive a failure, and their advert
    /// is removed.
    func answer(_ advert: OutgoingAdvert, _ result: Result<Void, RadioError>) {
        for id in clientOrder where clients[id]?.advert == advert {
            switch result {
            case .success:
                guard clients[id]?.isAnswered == false else { continue }
                clients[id]?.isAnswered = true
            case .failure:
                clients[id]?.advert = nil
            }
            deliver(.advertising(result), to: id)
        }
        updateAdvertising()
    }

    /// Returns true for an advert that is not sent outside of the foreground: a beacon's.
    private func isMuted(_ advert: OutgoingAdvert) -> Bool { presence != .foreground && advert.frame != nil }

    /// Makes the radio send the adverts of all clients, each once.
    func updateAdvertising() {
        var adverts: [OutgoingAdvert] = []
        for advert in clientOrder.compactMap({ clients[$0]?.advert }) where !isMuted(advert) {
            if !adverts.contains(advert) { adverts.append(advert) }
        }
        guard adverts != advertised else { return }
        advertised = adverts
        radio?.advertiser?.advertise(adverts)
    }
}

/// An observer of every advert that a source receives, not only of beacons: a Bluetooth proxy, for example. The
/// source's runner calls it on its thread, in the order of the adverts.
package protocol AdvertObserver: Sendable {
    /// Notes an advert as soon as the source delivers it. If the source is no radio, that is before the advert's time.
    ///
    /// - Parameters:
    ///   - reception: the time, the receiver and the signal.
    ///   - advert: the bytes, which are valid only during the call.
    func hear(_ reception: Reception, _ advert: RawSpan)

    /// Notes the source's receivers and their status.
    ///
    /// - Parameters:
    ///   - names: the receivers' names.
    ///   - statuses: the receivers' status; empty for a source that always receives.
    func update(names: [String], statuses: [ReceiverStatus])

    /// Notes that the time of the earlier adverts has arrived.
    func release()

    /// Notes that the source delivers nothing more, temporarily or permanently.
    func lose()
}

/// A receiver of all that a source hears, also of adverts that are no beacons: a Bluetooth proxy, for instance.
/// The source's runner calls it on its thread, in the order of the adverts.
package protocol AdvertObserver: Sendable {
    /// Notes an advert as the source gives it, before its time has come where it is no radio.
    ///
    /// - Parameters:
    ///   - reception: how it was heard.
    ///   - advert: its bytes, which are valid during the call.
    func hear(_ reception: Reception, _ advert: RawSpan)

    /// Notes the source's receivers and whether they hear.
    ///
    /// - Parameters:
    ///   - names: their names.
    ///   - statuses: their status; none for what always hears.
    func update(names: [String], statuses: [ReceiverStatus])

    /// Notes that the time of the earlier adverts has come.
    func release()

    /// Notes that the source gives nothing more, for now or for ever.
    func lose()
}

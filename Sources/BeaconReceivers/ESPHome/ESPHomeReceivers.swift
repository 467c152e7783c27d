package import BeaconModel
package import BeaconRadio

// Receivers with their own connection, in a network without a broker.

extension ReceiverNetwork {
    /// Returns the index of a device, and adds new devices. Returns nil if there are too many, or if the name is
    /// invalid.
    package mutating func meet(_ name: String, at time: Timestamp) -> Int? {
        place(of: name, .esphome, Message(levels: TopicLevels(), arrival: time, isRetained: false))
    }

    /// Processes an advert of a known device.
    package mutating func receiveAdvert(
        of place: Int, at time: Timestamp, address: DeviceAddress, rssi: Int, advert: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        counts.reports += 1
        receivers[place].adverts += 1
        if let problem = Self.problem(ofSignal: rssi) {
            note(MessageFault("an advert", problem, reading: "\(rssi)", isUsed: true), of: place)
            reportFaults(at: nil, &batch)
        }
        hear(place, at: time, address: address, rssi: rssi, advert: advert, &batch)
    }

    /// Notes that all adverts that a device heard up to now have arrived.
    package mutating func noteSign(of place: Int, at time: Timestamp) { receivers[place].note(at: time) }

    /// Sets a device's state.
    ///
    /// - Parameters:
    ///   - state: its state. If it is not `poweredOn`, the device has been deaf since its last sign of life.
    ///   - batch: receives the time for which the device was deaf.
    package mutating func setState(
        _ state: RadioState, of place: Int, at time: Timestamp, into batch: inout AdvertBatch
    ) {
        let wasHearing = receivers[place].isHearing
        if state == .poweredOn {
            if !wasHearing { reportDeafness(of: place, at: time, &batch) }
            receivers[place].note(at: time)
        } else if wasHearing {
            reportDeafness(of: place, at: time, &batch)
        }
        receivers[place].reported = ReceiverStatus(state)
    }
}

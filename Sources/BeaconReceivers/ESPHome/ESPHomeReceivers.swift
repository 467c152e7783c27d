package import BeaconModel
package import BeaconRadio

// Receivers with a connection of their own, in a network without a broker.

extension ReceiverNetwork {
    /// Returns the place of a device, which is added where it is new; nil where there are too many, or its name is
    /// none.
    package mutating func meet(_ name: String, at time: Timestamp) -> Int? {
        place(of: name, .esphome, Message(levels: TopicLevels(), arrival: time, isRetained: false))
    }

    /// Takes in an advert of a device that was met.
    package mutating func receiveAdvert(
        of place: Int, at time: Timestamp, address: DeviceAddress, rssi: Int, advert: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        counts.reports += 1
        receivers[place].adverts += 1
        hear(place, at: time, address: address, rssi: rssi, advert: advert, &batch)
    }

    /// Notes that all that a device heard so far has come.
    package mutating func noteSign(of place: Int, at time: Timestamp) { receivers[place].note(at: time) }

    /// Sets whether a device hears.
    ///
    /// - Parameters:
    ///   - state: its state. In any but `poweredOn` it was deaf since its last sign of life.
    ///   - batch: receives that stretch.
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

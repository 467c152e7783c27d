import BeaconEngine
import BeaconModel
import BeaconSupport
import Foundation

/// A hall with receivers, and devices that advertise one identity in it. The receivers' messages may arrive late and
/// together.
struct SimulatedCloners {
    /// A device that walks between points.
    struct Device {
        var identity: BeaconIdentity
        /// Its positions in time; in between it moves straight.
        var path: [(time: Double, x: Double, y: Double)]
        /// The times at which its address changes, and the addresses from then on.
        var addresses: [(time: Double, bits: UInt64)]
        /// Its level at one meter, and the level that it claims.
        var power = -59.0
        var measuredPower: Int8 = -59
        var interval = 0.3

        func position(at time: Double) -> (x: Double, y: Double)? {
            guard let first = path.first, let last = path.last, time >= first.time, time <= last.time else {
                return nil
            }
            for (a, b) in zip(path, path.dropFirst()) where time <= b.time {
                let part = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0
                return (a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part)
            }
            return (last.x, last.y)
        }

        func address(at time: Double) -> UInt64 { addresses.last { $0.time <= time }?.bits ?? addresses[0].bits }
    }

    /// A receiver.
    struct Receiver {
        var x: Double
        var y: Double
        /// The maximum lateness of its messages in seconds.
        var lateness = 0.0
        /// The seconds for which it collects adverts before it sends; they then have the time of the message.
        var gathering = 0.0
    }

    var receivers: [Receiver]
    var devices: [Device]
    var random: SplitMix64

    /// Sets the receivers' positions.
    func place(in detector: inout SuspicionDetector) {
        for (index, receiver) in receivers.enumerated() {
            detector.setReceiver(
                ReceiverID(UInt16(index)), at: ReceiverPosition(x: receiver.x, y: receiver.y))
        }
    }

    /// Returns the sightings until a time, in the order of arrival.
    mutating func sightings(until end: Double) -> [Sighting] {
        var heard: [(arrival: Double, sighting: Sighting)] = []
        for device in devices {
            var time = Double.random(in: 0..<device.interval, using: &random)
            while time < end {
                defer { time += device.interval * Double.random(in: 0.9..<1.1, using: &random) }
                guard let (x, y) = device.position(at: time) else { continue }
                for (index, receiver) in receivers.enumerated() {
                    let distance = max(
                        ((x - receiver.x) * (x - receiver.x) + (y - receiver.y) * (y - receiver.y)).squareRoot(), 0.3)
                    // Free space, people and furniture; sometimes a wave interferes with itself.
                    let loss = 20 * log10(distance) + Double.random(in: -4..<14, using: &random)
                    let level = device.power - loss
                    guard level > -95 else { continue }
                    var arrival = time + Double.random(in: 0...max(receiver.lateness, 0.001), using: &random)
                    if receiver.gathering > 0 {
                        arrival = (arrival / receiver.gathering).rounded(.up) * receiver.gathering
                    }
                    heard.append(
                        (
                            arrival,
                            Sighting(
                                time: .at(arrival), receiver: ReceiverID(UInt16(index)),
                                address: DeviceAddress(bits: device.address(at: time), kind: .random),
                                identity: device.identity, measuredPower: device.measuredPower,
                                rssi: SignalStrength(rawValue: Int8(clamping: Int(level.rounded()))))
                        ))
                }
            }
        }
        return heard.sorted { $0.arrival < $1.arrival }.map(\.sighting)
    }
}

extension SuspicionDetector {
    /// Processes sightings, lets a minute pass, and returns the findings as text: `apart`, with the receivers.
    mutating func findings(of sightings: [Sighting], until end: Double) -> [String] {
        for sighting in sightings {
            advance(to: sighting.time)
            receive(sighting)
        }
        advance(to: .at(end + 60))
        return takeFindings().map {
            "\($0.reason) \($0.identity.minor) \(min($0.first.receiver.index, $0.second.receiver.index))-\(max($0.first.receiver.index, $0.second.receiver.index))"
        }
    }
}

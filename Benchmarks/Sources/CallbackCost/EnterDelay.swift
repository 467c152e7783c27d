import BeaconModel
@_spi(Measurement) import BeaconMonitoring
import CReference
import CoreLocation
import Foundation

/// Measures the time from an advert on a raw HCI socket to `didEnterRegion` through radio, service and Core Location
/// module, and the time in which a plain reader in C has the advert.
enum EnterDelay {
    /// The number of adverts before the first measured one.
    private static let first = 800
    private static let count = 1200
    private static let period: Int64 = 2_500_000
    private static let rounds = 5

    /// Records the times at which its regions were entered.
    private final class Delegate: NSObject, CLLocationManagerDelegate {
        var delays: [Int64] = []

        func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
            guard let number = Int(region.identifier) else { return }
            delays.append(EnterDelay.now() - radio_reference_sent(number))
        }
    }

    /// Delays in milliseconds.
    struct Delays {
        /// The median.
        let median: Double
        /// The 99th percentile.
        let p99: Double

        init(_ delays: [Int64]) {
            let sorted = delays.sorted()
            func percentile(_ percent: Int) -> Double {
                (Double(sorted[sorted.count * percent / 100]) / 10_000).rounded() / 100
            }
            (median, p99) = (percentile(50), percentile(99))
        }
    }

    /// Measures the delays to `didEnterRegion` and to a reader in C.
    static func measure() -> (face: Delays, reference: Delays) {
        var face: [Int64] = []
        var reference: [Int64] = []
        for _ in 0..<rounds {
            face += measureFace()
            reference += measureReference()
        }
        return (Delays(face), Delays(reference))
    }

    private static func measureFace() -> [Int64] {
        // The reference sends a UUID of zeros, and its number as major and minor value.
        let center = MeasuredCenter(
            outside: (first..<count).map { number in
                let identity = BeaconIdentity(
                    uuid: ProximityUUID(high: 0, low: 0), major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF))
                return ("\(number)", BeaconConstraint(identity))
            })
        let delegate = Delegate()
        let manager = center.run { CLLocationManager() }
        manager.delegate = delegate
        let (own, other) = ends()
        radio_reference_start(other, count, period)
        center.use(hciSocket: own)
        let end = Date(timeIntervalSinceNow: 30)
        while delegate.delays.count < count - first, Date() < end {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        precondition(delegate.delays.count == count - first, "\(delegate.delays.count) regions were entered")
        radio_reference_join()
        close(other)
        return delegate.delays
    }

    private static func measureReference() -> [Int64] {
        var delays = [Int64](repeating: 0, count: count)
        let (own, other) = ends()
        radio_reference_start(other, count, period)
        _ = delays.withUnsafeMutableBufferPointer { radio_reference_read(own, count, $0.baseAddress) }
        radio_reference_join()
        close(own)
        close(other)
        return Array(delays[first...])
    }

    private static func ends() -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(radio_reference_pair(&ends) == 0, "cannot create sockets")
        return (ends[0], ends[1])
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

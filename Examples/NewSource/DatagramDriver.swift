import BeaconMonitoring
import Glibc

/// The driver of a receiver that sends each advert in a datagram: the signal strength in dBm, the six bytes of the
/// address, and the AD structures.
final class DatagramDriver: ReceiverDriver {
    let name = "datagrams"
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 512)
    private var (newest, now) = (Timestamp?.none, Timestamp.zero)

    /// Opens a port on all interfaces of this machine.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        let result = withUnsafeBytes(of: &address) { bytes in
            bytes.baseAddress.map {
                bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard result == 0 else {
            let cause = String(cString: strerror(errno))
            close()
            throw RadioError(.failed, "cannot listen to port \(port): \(cause); choose another")
        }
    }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) { body(descriptor, Int16(POLLIN)) }

    // A receiver that sends nothing for ten seconds is lost, and its silence proves nothing about beacons.
    private var end: Timestamp? { newest?.advanced(by: 10_000_000_000) }
    var state: RadioState { end.map { now < $0 ? .poweredOn : .resetting } ?? .unknown }
    var deadline: Timestamp { end.map { now < $0 ? $0 : .latest } ?? .latest }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        self.now = now
        // A limit per call, so that a flood does not block other drivers.
        for _ in 0..<64 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return }
            guard count > 7 else { continue }
            newest = now
            let datagram = Array(buffer[..<count])
            let address = datagram[1..<7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let report = AdvertisingReport(
                kind: .nonConnectable, address: DeviceAddress(bits: address, kind: .unspecified),
                rssi: SignalStrength(rawValue: Int8(bitPattern: datagram[0])))
            batch.hear(
                Reception(time: now, receiver: batch.firstReceiver, report: report),
                datagram.span.bytes.extracting(7..<count))
        }
    }

    func close() { Glibc.close(descriptor) }
}

import BeaconMonitoring
import Glibc

/// The driver of a receiver that sends each advert in a datagram: the signal strength in dBm, the six bytes of the
/// address, the AD structures.
final class DatagramDriver: ReceiverDriver {
    let name = "datagrams"
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 512)
    private var newest: Timestamp?

    /// Opens a port of this machine.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        let result = withUnsafeBytes(of: &address) { bytes in
            bytes.baseAddress.map {
                bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard result == 0 else {
            close()
            throw RadioError(.failed, "port \(port) is in use; choose another")
        }
    }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) { body(descriptor, Int16(POLLIN)) }

    // Before it has sent anything, its silence says nothing.
    var state: RadioState { newest == nil ? .unknown : .poweredOn }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count >= 0 {
            guard count > 7 else { continue }
            newest = now
            let datagram = Array(buffer[..<count])
            let address = datagram[1..<7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let report = AdvertisingReport(
                kind: .nonConnectable, address: DeviceAddress(bits: address, kind: .unspecified),
                rssi: SignalStrength(rawValue: Int8(bitPattern: datagram[0])))
            batch.hear(
                Reception(time: now, receiver: ReceiverID(0), report: report),
                datagram.span.bytes.extracting(7..<count))
        }
    }

    func close() { Glibc.close(descriptor) }
}

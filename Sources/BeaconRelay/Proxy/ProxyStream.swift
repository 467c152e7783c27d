import BeaconModel
import BeaconReceivers
import BeaconSupport

/// The adverts of one device of the proxy, on their way from the receiving threads to the network thread.
final class ProxyStream: Sendable {
    /// The most messages that wait for the network thread: some seconds in the busiest place. It is only late if the
    /// process gets no CPU time.
    private static let maximumMessages = 512

    /// The longest advert (Core Specification 5.3, Vol 4, Part E, 7.8.57), and the size at which a message is full.
    private static let longestAdvert = 1650
    private static let largestMessage = 16 << 10

    private struct State {
        var scanner = ESPHomeDevice.Scanner.starting
        /// The message that is being filled, its number of adverts, and the time of the first one.
        var batch: [UInt8] = []
        var count = 0
        var since = Timestamp.zero
        var full: [[UInt8]] = []
        var choice = StrongestReceiver()
        var dropped = 0
    }

    /// The identity of the device.
    let identity: ESPHomeDevice.Identity
    /// The port of its API.
    let port: UInt16

    private let state = Locked(State())

    init(_ identity: ESPHomeDevice.Identity, port: UInt16) {
        self.identity = identity
        self.port = port
    }

    /// The state of the device's scanner.
    var scanner: ESPHomeDevice.Scanner {
        get { state.withLock { $0.scanner } }
        set { state.withLock { $0.scanner = newValue } }
    }

    /// The number of messages that were dropped because the network thread was late.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Adds an advert.
    ///
    /// - Parameters:
    ///   - report: kind, address and signal strength.
    ///   - advert: its AD structures.
    ///   - receiver: the number of the receiver that heard it; nil if there is only one.
    ///   - now: the time.
    /// - Returns: true if the network thread must be woken.
    func hear(_ report: AdvertisingReport, _ advert: RawSpan, by receiver: Int?, at now: Timestamp) -> Bool {
        // An advert without an address cannot be assigned to a device.
        guard let address = report.address.forClients, advert.byteCount <= Self.longestAdvert else { return false }
        let rssi = report.rssi.dBm.map(Int.init) ?? Self.noSignal
        let bytes = advert.withUnsafeBytes { Array($0) }
        return state.withLock { state in
            if let receiver, !state.choice.passes(address, rssi: rssi, by: receiver, at: now) { return false }
            ESPHomeAdverts.append(address: address, rssi: rssi, advert: bytes, to: &state.batch)
            state.count += 1
            if state.count == 1 { state.since = now }
            guard state.count >= ESPHomeDevice.batchCount || state.batch.count >= Self.largestMessage else {
                return state.count == 1
            }
            Self.close(&state)
            return true
        }
    }

    /// The time at which messages are due; the latest time if no adverts wait.
    var deadline: Timestamp {
        state.withLock { state in
            if !state.full.isEmpty { return .zero }
            return state.count > 0 ? state.since.advanced(by: ESPHomeDevice.batchTime) : .latest
        }
    }

    /// Removes and returns the messages that are due.
    func take(at now: Timestamp) -> [[UInt8]] {
        state.withLock { state in
            if state.count > 0, now >= state.since.advanced(by: ESPHomeDevice.batchTime) { Self.close(&state) }
            defer { state.full = [] }
            return state.full
        }
    }

    private static func close(_ state: inout State) {
        if state.full.count >= maximumMessages {
            state.full.removeFirst()
            state.dropped += 1
        }
        state.full.append(state.batch)
        state.batch = []
        state.count = 0
    }

    /// The value that clients treat as an advert without a signal strength (habluetooth, `NO_RSSI_VALUE`).
    private static let noSignal = -127
}

/// A choice of one receiver for each device, for clients that expect the adverts of a single receiver.
///
/// It chooses the first receiver that hears the device, until another one hears it much better or the first no longer
/// hears it. If it passed on the adverts of all receivers, the signal strength would jump with each advert.
struct StrongestReceiver {
    /// The number of dB by which another receiver must be stronger: more than the signal of one receiver varies between
    /// adverts (`docs/quality.md`).
    private static let advantage = 8.0

    /// The silence after which another receiver is chosen, in nanoseconds.
    private static let patience = 3 * Timestamp.nanosecondsPerSecond

    /// The weight of the newest advert in the level.
    private static let share = 0.25

    /// The most devices. Above that, all choices are discarded.
    private static let most = 8192

    private struct Choice {
        var receiver: Int
        var level: Double
        var last: Timestamp
    }

    private var choices: [DeviceAddress: Choice] = [:]

    /// Returns true if the advert is from the receiver that is chosen for its device.
    mutating func passes(_ address: DeviceAddress, rssi: Int, by receiver: Int, at now: Timestamp) -> Bool {
        guard var choice = choices[address] else {
            if choices.count >= Self.most { choices.removeAll(keepingCapacity: true) }
            choices[address] = Choice(receiver: receiver, level: Double(rssi), last: now)
            return true
        }
        if choice.receiver == receiver {
            choice.level += Self.share * (Double(rssi) - choice.level)
        } else if Double(rssi) >= choice.level + Self.advantage || now.since(choice.last) >= Self.patience {
            (choice.receiver, choice.level) = (receiver, Double(rssi))
        } else {
            return false
        }
        choice.last = now
        choices[address] = choice
        return true
    }
}

extension DeviceAddress {
    /// The address with a kind that clients support, public or random; nil if it has no address.
    fileprivate var forClients: DeviceAddress? {
        guard bits != 0 else { return nil }
        switch kind {
        case .public, .publicIdentity: return DeviceAddress(bits: bits, kind: .public)
        // An unspecified kind is most often a phone or a beacon with a random address.
        case .random, .randomIdentity, .unspecified: return DeviceAddress(bits: bits, kind: .random)
        case .anonymous: return nil
        }
    }
}

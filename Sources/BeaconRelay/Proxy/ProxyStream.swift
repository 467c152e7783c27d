import BeaconModel
import BeaconReceivers
import BeaconSupport

/// The adverts of one device of a proxy on their way from the threads that hear them to the one that sends them.
final class ProxyStream: Sendable {
    /// The most messages that wait for the thread that sends: some seconds of the loudest place. It is behind only
    /// where the process gets no processor.
    private static let mostMessages = 512

    /// The longest advert (Core Specification 5.3, Vol 4, Part E, 7.8.57), and the bytes from which on a message is
    /// full.
    private static let longestAdvert = 1650
    private static let largestMessage = 16 << 10

    private struct State {
        var scanner = ESPHomeDevice.Scanner.starting
        /// The message that is being filled, its adverts, and when the first of them came.
        var batch: [UInt8] = []
        var count = 0
        var since = Timestamp.zero
        var full: [[UInt8]] = []
        var choice = StrongestReceiver()
        var dropped = 0
    }

    /// What the device says of itself.
    let identity: ESPHomeDevice.Identity
    /// The port of its API.
    let port: UInt16

    private let state = Locked(State())

    init(_ identity: ESPHomeDevice.Identity, port: UInt16) {
        self.identity = identity
        self.port = port
    }

    /// Whether anything is heard.
    var scanner: ESPHomeDevice.Scanner {
        get { state.withLock { $0.scanner } }
        set { state.withLock { $0.scanner = newValue } }
    }

    /// The messages that were dropped because the thread that sends was behind.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Adds an advert.
    ///
    /// - Parameters:
    ///   - report: kind, address and signal strength.
    ///   - advert: its AD structures.
    ///   - receiver: the number of the one that heard it; nil where there is only one.
    ///   - now: the time.
    /// - Returns: true where the thread that sends has to know of it.
    func hear(_ report: AdvertisingReport, _ advert: RawSpan, by receiver: Int?, at now: Timestamp) -> Bool {
        // Without an address it is nobody's.
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

    /// When messages are due; the latest time where there are none.
    var deadline: Timestamp {
        state.withLock { state in
            if !state.full.isEmpty { return .zero }
            return state.count > 0 ? state.since.advanced(by: ESPHomeDevice.batchTime) : .latest
        }
    }

    /// Returns the messages that are due, which are no longer there then.
    func take(at now: Timestamp) -> [[UInt8]] {
        state.withLock { state in
            if state.count > 0, now >= state.since.advanced(by: ESPHomeDevice.batchTime) { Self.close(&state) }
            defer { state.full = [] }
            return state.full
        }
    }

    private static func close(_ state: inout State) {
        if state.full.count >= mostMessages {
            state.full.removeFirst()
            state.dropped += 1
        }
        state.full.append(state.batch)
        state.batch = []
        state.count = 0
    }

    /// What clients take for an advert without a signal strength (habluetooth, `NO_RSSI_VALUE`).
    private static let noSignal = -127
}

/// The choice of one receiver for each device, where several hear the same adverts and who asks wants them as of one.
///
/// It is the first that hears the device, until another hears it by much more, or it hears it no longer. All adverts of
/// all receivers together would have signal strengths that jump with each.
struct StrongestReceiver {
    /// By how many dB another has to be stronger: more than the signal of one receiver changes by itself from advert to
    /// advert (`docs/quality.md`).
    private static let advantage = 8.0

    /// The silence after which another is chosen, in nanoseconds.
    private static let patience = 3 * Timestamp.nanosecondsPerSecond

    /// The share of the newest advert in the level.
    private static let share = 0.25

    /// The most devices; of more the choice begins anew.
    private static let most = 8192

    private struct Choice {
        var receiver: Int
        var level: Double
        var last: Timestamp
    }

    private var choices: [DeviceAddress: Choice] = [:]

    /// Returns true for an advert of the receiver that is chosen for its device.
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
    /// The address with a kind that clients know: public or random; nil where there is none.
    fileprivate var forClients: DeviceAddress? {
        guard bits != 0 else { return nil }
        switch kind {
        case .public, .publicIdentity: return DeviceAddress(bits: bits, kind: .public)
        // Who does not say it is most often a phone or a beacon, which choose theirs.
        case .random, .randomIdentity, .unspecified: return DeviceAddress(bits: bits, kind: .random)
        case .anonymous: return nil
        }
    }
}

import BeaconModel
package import BeaconSupport
import Foundation

extension GuidedStart {
    /// The result of a search for receivers so far.
    package struct Found: Encodable, Sendable {
        /// The state of the search.
        package enum State: String, Encodable, Sendable {
            case connecting, listening, failed
        }

        /// A note for the user, with its kind for programs.
        package struct Hint: Encodable, Hashable, Sendable {
            /// The kinds of hints.
            package enum Kind: String, Encodable, Sendable {
                /// The broker refuses subscriptions.
                case refused
                /// The broker may let this user read nothing.
                case unreadable
                /// No receiver has sent anything.
                case silent
                /// A receiver smooths its levels.
                case smoothed
                /// No device announces itself.
                case none
            }
            package var kind: Kind
            package var detail: String
        }

        /// A beacon that a receiver hears.
        package struct Beacon: Encodable, Sendable {
            package var uuid: String
            package var major: Int
            package var minor: Int
            /// In dBm; nil without a reading.
            @Nullable package var level: Int?
        }

        /// A receiver.
        package struct Receiver: Encodable, Sendable {
            /// The key of its name in the configuration.
            package var key: String
            /// Its own name.
            package var name: String
            package var kind: String
            /// The beginning of its topics; nil for a receiver without topics.
            @Nullable package var topic: String?
            package var advertsPerMinute: Int
            /// True if it smooths its levels.
            package var smoothed: Bool
            /// The strongest first.
            package var beacons: [Beacon]
        }

        /// A device that announces itself, or that the user named.
        package struct Device: Encodable, Sendable {
            package var name: String
            package var host: String
            @Nullable package var address: String?
            package var encrypted: Bool
            /// Why it is not heard, with the remedy; nil if it is, or was not tried.
            @Nullable package var problem: String?
            /// True if another program has its adverts, or may lose them.
            package var shared = false
        }

        package var state = State.connecting
        /// The faults of the connection, with the keys of the request.
        package var faults: [Draft.Fault] = []
        package var hints: [Hint] = []
        /// The topics that it listens to.
        package var topics: [String] = []
        /// The topics of OpenMQTTGateways, up to their names.
        package var gateways: [String] = []
        package var receivers: [Receiver] = []
        package var devices: [Device] = []
    }
}

/// The adverts of a search, by receiver.
struct FoundAdverts {
    private struct Entry {
        var since: Timestamp
        var adverts = 0
        var beacons: [BeaconIdentity: (level: HeardLevel, last: Timestamp)] = [:]
    }

    /// The most beacons of a receiver: anyone can send made-up ones.
    private static let most = 200
    /// The most receivers, as in a source.
    private static let mostReceivers = 200
    /// The time after which a beacon that is no longer heard is left out, in nanoseconds.
    private static let patience = 15 * Timestamp.nanosecondsPerSecond
    /// The shortest time to count over, in nanoseconds: a rate after one second says nothing.
    private static let shortest = 10 * Timestamp.nanosecondsPerSecond

    private var entries: [String: Entry] = [:]

    /// Notes adverts of any device.
    mutating func note(_ count: Int, of receiver: String, at time: Timestamp) {
        guard entries[receiver] != nil || entries.count < Self.mostReceivers else { return }
        entries[receiver, default: Entry(since: time)].adverts += count
    }

    /// Notes an advert of a beacon.
    mutating func note(_ sighting: Sighting, of receiver: String, at time: Timestamp) {
        guard var entry = entries[receiver] else { return }
        let before = entry.beacons[sighting.identity]
        guard before != nil || entry.beacons.count < Self.most else { return }
        var level = before?.level ?? HeardLevel()
        level.hear(sighting.rssi)
        entry.beacons[sighting.identity] = (level, time)
        entries[receiver] = entry
    }

    /// Returns the adverts a minute and the beacons of a receiver, the strongest first.
    func values(of receiver: String, at time: Timestamp) -> (rate: Int, beacons: [GuidedStart.Found.Beacon]) {
        guard let entry = entries[receiver] else { return (0, []) }
        let seconds = Double(max(time.since(entry.since), Self.shortest)) / 1e9
        let beacons = entry.beacons.filter { time.since($0.value.last) <= Self.patience }.sorted { one, other in
            (other.value.level, one.key) < (one.value.level, other.key)
        }
        return (
            Int((Double(entry.adverts) * 60 / seconds).rounded()),
            beacons.map { identity, heard in
                .init(
                    uuid: identity.uuid.description, major: Int(identity.major), minor: Int(identity.minor),
                    level: heard.level.dBm)
            }
        )
    }
}

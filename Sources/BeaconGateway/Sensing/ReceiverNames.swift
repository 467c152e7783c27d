import BeaconMonitoring
import BeaconSupport

/// The names of a gateway's receivers. Each name is unique, because histories, rules, places and destinations identify
/// receivers by it.
///
/// Equal names get a number: `hci0`, `hci0 2`. A receiver keeps its name while its source is configured, whatever the
/// order in which receivers appear.
final class ReceiverNames: Sendable {
    /// A receiver by its identity.
    struct Receiver: Hashable, Sendable, Codable {
        /// The source's name.
        var source: String
        /// The name in its source. A source with a configured name is a receiver by itself, and stands for its first
        /// adapter.
        var own: String
        /// The requested name.
        var title: String

        /// Creates a receiver of a source.
        ///
        /// - Parameter place: its index in the source; zero for the source itself if it has a configured name.
        init(_ own: String, at place: Int = 0, of source: SourceSettings) {
            title = source.receiver ?? own
            (self.source, self.own) = (source.name, place == 0 ? title : own)
        }
    }

    private struct Table {
        var names: [Receiver: String] = [:]
        var receivers: [String: Receiver] = [:]
        var numbers: [String: Int] = [:]
        var kept: [String: Receiver] = [:]
    }

    /// The most names to store. Only a recording can have more receivers with one name.
    private static let maximumKept = 1_000

    private let table = Locked(Table())

    /// The receivers whose titles are not unique, by name. A restart restores them.
    var kept: [String: Receiver] { table.withLock { $0.kept } }

    /// Returns the unique name of a receiver.
    func name(of receiver: Receiver) -> String {
        table.withLock { table in
            if let name = table.names[receiver] { return name }
            var name = receiver.title
            while table.receivers[name] != nil {
                table.numbers[receiver.title, default: 1] += 1
                name = "\(receiver.title) \(table.numbers[receiver.title] ?? 1)"
            }
            (table.names[receiver], table.receivers[name]) = (name, receiver)
            if name != receiver.title, table.kept.count < Self.maximumKept {
                table.kept[name] = receiver
                table.kept[receiver.title] = table.receivers[receiver.title]
            }
            return name
        }
    }

    /// Frees the name of a receiver that another one replaces, since messages can invent names. Stored names stay.
    func release(_ receiver: Receiver) {
        table.withLock { table in
            guard let name = table.names[receiver], table.kept[name] == nil else { return }
            (table.names[receiver], table.receivers[name]) = (nil, nil)
        }
    }

    /// Restores stored names, and frees the names of sources that were removed or have another title.
    func update(for sources: [SourceSettings], restoring kept: [String: Receiver] = [:]) {
        let receivers = Dictionary(sources.map { ($0.name, $0.receiver) }) { first, _ in first }
        func isCurrent(_ receiver: Receiver) -> Bool {
            receivers[receiver.source].map { receiver.title == $0 ?? receiver.own } ?? false
        }
        table.withLock { table in
            for (name, receiver) in kept { table.receivers[name] = receiver }
            table.kept.merge(kept) { $1 }
            table.kept = table.kept.filter { isCurrent($0.value) }
            table.receivers = table.receivers.filter { isCurrent($0.value) }
            table.names = Dictionary(table.receivers.map { ($0.value, $0.key) }) { first, _ in first }
        }
    }
}

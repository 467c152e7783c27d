import BeaconBroker
import BeaconNATS
import BeaconSupport
import Foundation

/// The user accounts of a fleet for NATS servers or mosquitto, with only the permissions that each machine needs.
public struct AccountFile: Sendable {
    /// A user of the file, with a generated password.
    public struct User: Hashable, Sendable {
        /// The name, which is the machine's name.
        public var name: String
        /// The password.
        public var password: String

        /// Creates a user with a random password of 128 bits.
        public init(_ name: String) {
            self.name = name
            var random = SystemRandomNumberGenerator()
            password = (0..<2).map { _ in
                let digits = String(random.next() as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }

    /// The machines that only receive adverts.
    public var receivers: [User] = []
    /// The machines that own partitions or deliver.
    public var workers: [User] = []

    /// Creates a file for machines by their names.
    ///
    /// - Parameters:
    ///   - receivers: the machines that only receive adverts.
    ///   - workers: the other machines.
    public init(receivers: [String], workers: [String]) {
        self.receivers = receivers.map(User.init)
        self.workers = workers.map(User.init)
    }

    // MARK: - NATS

    /// Returns the accounts of a fleet, to be included in the configuration of nats-server.
    ///
    /// Receivers may send adverts and status reports under their own names, and read their scan configuration.
    /// They may not read or change anything else in the fleet.
    ///
    /// - Parameter fleet: the fleet's name.
    public func nats(fleet: String) -> String {
        let (subjects, stream) = ("beacons.\(fleet)", "beacons-\(fleet)")
        // A bucket stores its entries at $KV.BUCKET, in the stream KV_BUCKET (NATS ADR-8).
        let (leases, state) = ("\(stream)-leases", "\(stream)-state")
        let streams = [stream, "KV_\(leases)", "KV_\(state)"]
        var lines = [
            "# Permissions of the fleet \(fleet.printable). Add to nats-server.conf: include \"fleet-accounts.conf\"",
            "# It contains passwords in plain text: make it readable only for nats-server's user.",
            "accounts {", "  \(Self.quoted("BEACONS-\(fleet)")): {", "    jetstream: enabled", "    users: [",
        ]
        for user in workers {
            let publish =
                ["\(subjects).>", "$KV.\(leases).>", "$KV.\(state).>"]
                + streams.flatMap { name in
                    ["CREATE", "INFO", "MSG.GET"].map { "$JS.API.STREAM.\($0).\(name)" }
                }
            lines += Self.natsUser(user, publish: publish, subscribe: ["\(subjects).>", "_INBOX.>"])
        }
        for user in receivers {
            let node = NATSName.escape(user.name)
            let publish =
                ["\(subjects).heard.*.\(node)", "\(subjects).heard.*.\(node).*", "$KV.\(leases).member.\(node)"]
                + streams.map { "$JS.API.STREAM.MSG.GET.\($0)" } + ["$JS.API.STREAM.INFO.\(stream)"]
            lines += Self.natsUser(user, publish: publish, subscribe: ["\(subjects).log.*", "_INBOX.>"])
        }
        lines += ["    ]", "  }", "}"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func natsUser(_ user: User, publish: [String], subscribe: [String]) -> [String] {
        func list(_ subjects: [String]) -> String { "[" + subjects.map(quoted).joined(separator: ", ") + "]" }
        return [
            "      {user: \(quoted(user.name)), password: \(quoted(user.password)), permissions: {",
            "        publish: {allow: \(list(publish))}", "        subscribe: {allow: \(list(subscribe))}", "      }}",
        ]
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.printable.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    // MARK: - mosquitto

    /// Returns the access control list for mosquitto: relays write their adverts, and workers read them.
    ///
    /// - Parameter prefix: the levels before the relays' topics; empty for none.
    public func mosquitto(prefix: String) -> String {
        let root = (prefix.isEmpty ? "" : prefix + "/") + "beacon-relay"
        var lines = [
            "# Permissions at the broker. Set in mosquitto.conf: acl_file, with this file's path, and password_file.",
            "# It contains generated passwords. Run for each user: mosquitto_passwd -b PASSWORD-FILE USER PASSWORD",
        ]
        for user in receivers {
            let topic = "\(root)/\(TopicLevel.escape(user.name))"
            lines += [
                "", "# \(user.password)", "user \(user.name.printable)", "topic write \(topic)/heard",
                "topic write \(topic)/status", "topic write \(topic)/transitions",
            ]
        }
        for user in workers {
            lines += ["", "# \(user.password)", "user \(user.name.printable)", "topic read \(root)/#"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

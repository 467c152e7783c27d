import BeaconBroker
import BeaconNATS
import BeaconSupport
import Foundation

/// A file by which NATS servers or a mosquitto know who may do what: each machine no more than it needs.
public struct AccountFile: Sendable {
    /// A user of the file, with the password that was made for it.
    public struct User: Hashable, Sendable {
        /// The name, which is the machine's.
        public var name: String
        /// The password.
        public var password: String

        /// A user with a password that nobody guesses: 128 bits.
        public init(_ name: String) {
            self.name = name
            var random = SystemRandomNumberGenerator()
            password = (0..<2).map { _ in
                let digits = String(random.next() as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }

    /// The machines that only hear.
    public var receivers: [User] = []
    /// The machines that own partitions or deliver.
    public var workers: [User] = []

    /// A file for machines by their names.
    ///
    /// - Parameters:
    ///   - receivers: those that only hear.
    ///   - workers: the others.
    public init(receivers: [String], workers: [String]) {
        self.receivers = receivers.map(User.init)
        self.workers = workers.map(User.init)
    }

    // MARK: - NATS

    /// Returns the accounts of a fleet, to be included into the configuration of nats-server.
    ///
    /// Receivers send adverts under their own names, say that they live, and read what they are to listen for. Nothing
    /// else of the fleet is theirs to read or to change.
    ///
    /// - Parameter fleet: the fleet's name.
    public func nats(fleet: String) -> String {
        let (subjects, stream) = ("beacons.\(fleet)", "beacons-\(fleet)")
        // A bucket's entries are at $KV.BUCKET, and kept by the stream KV_BUCKET (NATS ADR-8).
        let (leases, state) = ("\(stream)-leases", "\(stream)-state")
        let streams = [stream, "KV_\(leases)", "KV_\(state)"]
        var lines = [
            "# Who may do what in the fleet \(fleet.printable). Write into nats-server.conf: include \"fleet-accounts.conf\"",
            "# It has passwords as they are: it is for nats-server's user alone.",
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

    /// Returns the access control list of a mosquitto to which relays send what they hear, and from which others read
    /// it.
    ///
    /// - Parameter prefix: what stands before the relays' topics; empty for nothing.
    public func mosquitto(prefix: String) -> String {
        let root = (prefix.isEmpty ? "" : prefix + "/") + "beacon-relay"
        var lines = [
            "# Who may do what at the broker. Write into mosquitto.conf: acl_file, with this file's path, and password_file.",
            "# The passwords were made for it: for each user, mosquitto_passwd -b PASSWORD-FILE USER PASSWORD",
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

import BeaconModel

/// The recognition of tags by the addresses of adverts, for one source.
///
/// Each address is encrypted once for each key, and the result is kept. A phone changes its address every 15 minutes or
/// so, and some phones briefly return to the one before, so an address is kept for at least 16 minutes after it was
/// last heard. With more than ``capacity`` addresses in that time, the oldest are tried again.
struct TagResolver: Sendable {
    /// A key in one byte order.
    private struct Candidate {
        /// The index of its tag.
        var tag: Int
        /// The number of the key over all tags.
        var key: Int
        var isReversed: Bool
        var resolver: AddressResolver
        /// The number of addresses that it resolved.
        var matches = 0
    }

    /// The number of addresses in each of two tables; a busy street has some hundreds in a quarter of an hour.
    static let capacity = 4096
    /// How long an address is kept at least after it was last heard, in nanoseconds: the longest life of an address
    /// that the peers assume (Bermuda has 960 s).
    private static let lifetime = 960 * Timestamp.nanosecondsPerSecond
    /// The shortest time between two reports of forged iBeacons of a tag, in nanoseconds.
    private static let reportInterval = 3600 * Timestamp.nanosecondsPerSecond

    /// The matches that prove the order of a key's bytes: one address may match by chance, but not two.
    private static let proof = 2

    private let directory: TagDirectory
    private var version = 0
    private var tags: [DeviceTag] = []
    private var keys: [IdentityResolvingKey] = []
    private var candidates: [Candidate] = []
    private var fixed: [UInt64: Int] = [:]
    private var uuids: [ProximityUUID: Int] = [:]
    /// The times of the last reports of forged iBeacons, by tag.
    private var reported: [Int: Timestamp] = [:]

    /// The index of each address's tag, or -1 for none: for addresses heard since ``begin``, and for earlier ones.
    private var recent: [UInt64: Int] = [:]
    private var earlier: [UInt64: Int] = [:]
    private var begin = Timestamp.zero

    /// Recognized tags and forged iBeacons, which the caller removes.
    var events: [SourceEvent] = []

    init(_ directory: TagDirectory) { self.directory = directory }

    /// True if there are tags.
    var hasTags: Bool { !tags.isEmpty }

    /// Takes over a change of the tags. All addresses are tried again.
    mutating func update() {
        let newest = directory.version
        guard newest != version else { return }
        version = newest
        tags = directory.tags
        (candidates, fixed, uuids, reported) = ([], [:], [:], [:])
        (recent, earlier) = ([:], [:])
        var number = 0
        keys = tags.flatMap(\.keys)
        for (index, tag) in tags.enumerated() {
            uuids[tag.identity.uuid] = index
            if let address = tag.fixedAddress { fixed[address.bits] = index }
            for key in tag.keys {
                let known = directory.isReversed(key)
                for isReversed in known.map({ [$0] }) ?? [false, true] where !isReversed || key.reversed != key {
                    candidates.append(
                        Candidate(
                            tag: index, key: number, isReversed: isReversed,
                            resolver: AddressResolver(isReversed ? key.reversed : key),
                            matches: known == nil ? 0 : Self.proof))
                }
                number += 1
            }
        }
    }

    /// Returns the tag that sent an advert from an address; nil if none did.
    mutating func tag(at address: DeviceAddress, _ time: Timestamp) -> DeviceTag? {
        if !fixed.isEmpty, let index = fixed[address.bits] { return tags[index] }
        guard address.isResolvable, !candidates.isEmpty else { return nil }
        if recent.count >= Self.capacity || time.since(begin) >= Self.lifetime || time < begin {
            // A table is dropped a lifetime after it was replaced, so no address leaves before its time.
            (earlier, recent) = (recent, [:])
            begin = time
        }
        let index: Int
        if let known = recent[address.bits] {
            index = known
        } else {
            index = earlier.removeValue(forKey: address.bits) ?? resolve(address)
            recent[address.bits] = index
        }
        return index < 0 ? nil : tags[index]
    }

    private mutating func resolve(_ address: DeviceAddress) -> Int {
        guard let place = candidates.firstIndex(where: { $0.resolver.matches(address) }) else { return -1 }
        candidates[place].matches += 1
        let found = candidates[place]
        if found.matches == Self.proof {
            candidates.removeAll { $0.key == found.key && $0.isReversed != found.isReversed }
            directory.note(keys[found.key], isReversed: found.isReversed)
            events.append(
                .notice(
                    RadioNotice(
                        .tagRecognized, adapter: "tags",
                        "recognized \"\(tags[found.tag].name)\" by its key, whose bytes are in "
                            + (found.isReversed ? "reverse order" : "the usual order"))))
        }
        return found.tag
    }

    /// Returns true if an iBeacon has the made-up UUID of a tag, but is not a sighting of it by another machine.
    mutating func isForged(_ sighting: Sighting) -> Bool {
        // Most UUIDs are not of the version that tags have, which is quicker to see than a missing key.
        guard sighting.identity.uuid.high & 0xF000 == 0x8000, let index = uuids[sighting.identity.uuid] else {
            return false
        }
        let tag = tags[index]
        guard sighting.identity != tag.identity || sighting.address != tag.address else { return false }
        directory.noteForgery()
        if reported[index].map({ abs(sighting.time.since($0)) >= Self.reportInterval }) ?? true {
            reported[index] = sighting.time
            var forged = sighting
            forged.identity = tag.identity
            events.append(.forged(forged, tag: tag.name))
        }
        return true
    }
}

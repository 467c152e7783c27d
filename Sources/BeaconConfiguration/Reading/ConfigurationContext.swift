package import BeaconModel

/// The names that the parts of a configuration share while they are read.
///
/// A name is taken as soon as a thing has it, even if the thing has a fault. Other parts can refer to the name once the
/// thing is part of the configuration.
package struct ConfigurationContext: Equatable, Sendable {
    private var taken: [String: Set<String>] = [:]
    private var defined: [String: Set<String>] = [:]

    /// The names of the named beacons.
    package var beacons: [BeaconIdentity: String] = [:]

    /// The place of each receiver.
    package var placesOfReceivers: [String: String] = [:]

    /// True if beacons are located.
    package var hasPlaces = false

    /// True if this beacond, or another that reports to it, looks for cloned beacons.
    package var learnsOfClones = false

    /// The age at which the history deletes events; nil without a history.
    package var historyAge: Duration?

    /// Creates an empty context.
    package init() {}

    /// Takes a name for a thing of a group. Returns false if the name is taken.
    package mutating func take(_ name: String, _ group: String) -> Bool {
        taken[group, default: []].insert(name).inserted
    }

    /// Takes the names of existing things of a group.
    package mutating func take(_ names: some Sequence<String>, _ group: String) {
        taken[group, default: []].formUnion(names)
    }

    /// Defines things of a kind.
    package mutating func define(_ names: some Sequence<String>, _ kind: String) {
        defined[kind, default: []].formUnion(names)
    }

    /// Returns the names of the things of a kind that can be referred to.
    package func defined(_ kind: String) -> Set<String> { defined[kind] ?? [] }
}

package import BeaconModel

/// The knowledge that the parts of a configuration have of each other while they are read.
///
/// A name is taken as soon as something has it, also where that has a fault. It can be referred to once the thing is
/// part of the configuration.
package struct ConfigurationContext: Equatable, Sendable {
    private var taken: [String: Set<String>] = [:]
    private var defined: [String: Set<String>] = [:]

    /// The names of the beacons that have one.
    package var beacons: [BeaconIdentity: String] = [:]

    /// The places of receivers.
    package var placesOfReceivers: [String: String] = [:]

    /// True where beacons are located.
    package var hasPlaces = false

    /// True where beacons are looked for that were cloned, here or by another beacond that says so.
    package var learnsOfClones = false

    /// A context of nothing.
    package init() {}

    /// Takes a name for a thing of a group. It returns false where another has it.
    package mutating func take(_ name: String, _ group: String) -> Bool {
        taken[group, default: []].insert(name).inserted
    }

    /// Takes the names of things of a group that are there already.
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

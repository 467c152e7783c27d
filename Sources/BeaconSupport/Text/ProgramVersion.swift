/// The version of this package, by semantic versioning (semver.org, 2.0.0): while it begins with 0, a new second number
/// may change the public API. CHANGELOG.md lists the changes.
package enum ProgramVersion {
    /// The version of this checkout.
    package static let current = "0.1.0"

    /// The address of the programs' help; nil until the project has a public one.
    package static let supportAddress: String? = nil
}

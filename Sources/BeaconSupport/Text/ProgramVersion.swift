/// The version of this package, by semantic versioning (semver.org, 2.0.0): while it begins with 0, a change of the
/// second number may change what is public. CHANGELOG.md says what did.
package enum ProgramVersion {
    /// The version of this checkout.
    package static let current = "0.1.0"

    /// The address of help with the programs; nil until the project has a public one.
    package static let supportAddress: String? = nil
}

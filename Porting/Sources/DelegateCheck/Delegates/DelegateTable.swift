/// The methods of the three delegates, as Core Location and Core Bluetooth declare them.
enum DelegateTable {
    /// The delegates by name.
    static let byName = Dictionary(uniqueKeysWithValues: delegates.map { ($0.name, $0) })

    /// All of them. The first parameter of each method is the manager that calls it.
    static let delegates = DelegateProtocol.protocols(
        declaredIn: String(decoding: PackageResources.Delegates_txt, as: UTF8.self))
}

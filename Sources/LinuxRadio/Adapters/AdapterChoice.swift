import BeaconRadio

/// Finds the drivers for what a user selected.
enum AdapterChoice {
    /// Drivers that have been opened, at least one.
    ///
    /// - Throws: what is missing, and the command that mends it.
    static func drivers(for selection: RadioSelection) throws(RadioError) -> [any AdapterDriver] {
        if selection.way == .bluez { return try BlueZDriver.open(selection.adapters) }
        throw RadioError(.unsupported, "this version has no driver for real radios yet.")
    }
}

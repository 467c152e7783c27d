extension Double {
    /// The number with so many decimals, as descriptions show it in every locale.
    func text(places: Int, signed: Bool = false) -> String {
        String(format: signed ? "%+.\(places)f" : "%.\(places)f", self)
    }
}

/// A screen of the app.
@MainActor
protocol AppScreen: AnyObject {
    /// Its title.
    var title: String { get }

    /// The keys that it knows, beside those that all screens know.
    var keys: [String] { get }

    /// Returns its lines, and where the cursor stands in them.
    func draw() -> (lines: [StyledLine], cursor: (row: Int, column: Int)?)

    /// Handles a key.
    ///
    /// - Returns: false for one that it does not know.
    func handle(_ key: Key) -> Bool

    /// The user leaves it.
    func leave()
}

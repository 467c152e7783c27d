/// A screen of the app.
@MainActor
protocol AppScreen: AnyObject {
    /// Its title.
    var title: String { get }

    /// The keys that it handles, besides those of all screens.
    var keys: [String] { get }

    /// Returns its lines, and the cursor's position in them.
    func draw() -> (lines: [StyledLine], cursor: (row: Int, column: Int)?)

    /// Handles a key.
    ///
    /// - Returns: false for an unknown key.
    func handle(_ key: Key) -> Bool

    /// Ends its work, when the user leaves it.
    func leave()
}

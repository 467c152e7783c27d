/// A line of `beacon monitor --json`.
struct MonitorLine: Decodable, Hashable {
    /// What the line is about.
    struct Region: Decodable, Hashable {
        var name: String?
        var uuid: String
        var major: UInt16?
        var minor: UInt16?
    }

    /// Seconds since 1970.
    var time: Double
    var receiver: String?
    var event: String
    var state: String
    var region: Region

    /// The event without its time.
    var what: String { "\(event) \(state) \(region.name ?? region.uuid) by \(receiver ?? "none")" }

    /// True where the region was entered or left. When a state becomes known depends on when the run began.
    var isMovement: Bool { event == "enter" || event == "exit" }
}

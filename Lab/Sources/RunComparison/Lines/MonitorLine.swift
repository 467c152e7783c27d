/// A line of `beacon monitor --json`.
struct MonitorLine: Decodable, Hashable {
    /// The region of the line.
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
    var summary: String { "\(event) \(state) \(region.name ?? region.uuid) by \(receiver ?? "none")" }

    /// True if the region was entered or left. The time of a state report depends on when the run began, so it is not
    /// compared.
    var isMovement: Bool { event == "enter" || event == "exit" }
}

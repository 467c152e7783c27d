import BeaconService

/// The lines that `monitor` prints for people.
enum EventText {
    /// Appends one line.
    static func append(_ kind: SessionEvent.Kind, _ event: SessionEvent.RegionEvent, to buffer: inout [UInt8]) {
        var text = "\(ClockText.dateAndTime(event.time))  \(kind.word)"
        text += String(repeating: " ", count: max(0, 5 - kind.word.count))
        text += "  \(event.name)"
        if kind == .state { text += " is \(event.state.word)" }
        if let receiver = event.receiver { text += "  (\(receiver))" }
        buffer.append(contentsOf: (text + "\n").utf8)
    }
}

/// The first screen: the two functions of the app.
final class HomeScreen: AppScreen {
    private let entries: [(title: String, text: String, open: () -> Void)]
    private var chosen = 0

    init(configure: @escaping () -> Void, range: @escaping () -> Void) {
        entries = [
            ("Configure a Beacon", "make this device a beacon", configure),
            ("Range for Beacons", "look for beacons, and see how near they are", range),
        ]
    }

    let title = "Ranging for Beacons"
    let keys = ["↑↓ choose", "Enter open", "q quit", "Ctrl-C quit anywhere"]

    func draw() -> (lines: [StyledLine], cursor: (row: Int, column: Int)?) {
        var lines = [StyledLine()]
        for (place, entry) in entries.enumerated() {
            var line = StyledLine(place == chosen ? "  › " : "    ", .bold)
            line.append(" \(place + 1)  \(entry.title) ", place == chosen ? .inverse : .plain)
            line.pad(to: 32)
            line.append(entry.text, .dim)
            lines += [line, StyledLine()]
        }
        return (lines, nil)
    }

    func handle(_ key: Key) -> Bool {
        switch key {
        case .up, .backTab: chosen = max(0, chosen - 1)
        case .down, .tab: chosen = min(entries.count - 1, chosen + 1)
        case .enter: entries[chosen].open()
        case .character(let digit):
            guard let number = digit.wholeNumberValue, (1...entries.count).contains(number) else { return false }
            chosen = number - 1
            entries[chosen].open()
        default: return false
        }
        return true
    }

    func leave() {}
}

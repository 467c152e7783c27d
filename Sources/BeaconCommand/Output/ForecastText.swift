import BeaconSimulation

/// The lines that `plan` prints for people: a table of rooms, and sentences about it.
struct ForecastText {
    private let style = TextStyle.output

    /// The longest name in the table.
    private static let longestName = 14

    /// Returns the lines of a prediction, and of the receiver that was tried, if any.
    ///
    /// - Parameter hasOwnWalk: true if the walk is the scenario's.
    func lines(of report: RoomReport, title: String, hasOwnWalk: Bool) -> [String] {
        let forecast = report.forecast
        let walks =
            hasOwnWalk ? "\(forecast.seeds) times the scenario's walk" : "\(forecast.seeds) walks, 2 minutes in each"
        var lines = [style("\(title): \(forecast.rooms.count) rooms, \(walks)", .bold), ""]
        lines += table(of: forecast) + [""] + sentences(about: forecast)
        if let change = report.change, let room = report.tried {
            lines += ["", style("With one receiver more, in \(room):", .bold)]
            lines += ["", sentence(about: change, from: forecast)]
            lines += change.rooms.map { "\($0.room): right \(share($0.before)) → \(share($0.after)) of the time." }
            if change.isDifferent || !change.rooms.isEmpty {
                lines += [""] + table(of: change.forecast) + [""] + sentences(about: change.forecast)
            }
        }
        return lines
    }

    private func table(of forecast: RoomForecast) -> [String] {
        let names = forecast.rooms.map { short($0) }
        let headings = names + ["no place"]
        let first = max(9, names.map(\.count).max() ?? 0)
        let widths = headings.map { max(10, $0.count + 2) }
        var lines = [style(pad("in \\ shown", first) + zip(headings, widths).map { pad(left: $0, $1) }.joined(), .dim)]
        for (row, cells) in forecast.confusion.enumerated() {
            var line = pad(names[row], first)
            for (column, cell) in cells.enumerated() {
                line += style(pad(left: text(of: cell), widths[column]), ink(of: cell.mean, isRight: row == column))
            }
            lines.append(line)
        }
        return lines
    }

    private func sentences(about forecast: RoomForecast) -> [String] {
        var lines = ["Right \(text(of: forecast.balanced)) of the time, in the mean of all rooms."]
        for room in forecast.uncovered {
            var line = "No receiver covers \(room)"
            if let reported = forecast.mostlyReported(in: room), reported.share >= 0.005 {
                line += ": it is shown as \(reported.reported) for \(share(reported.share)) of the time"
            }
            lines.append(style(line + ".", .red))
        }
        lines += forecast.doubtful.map {
            let (room, reported) = ($0.room, $0.reported)
            return style(
                "The door between \(room) and \(reported) is doubtful: in \(room), \(reported) is shown for \(share($0.share)) of the "
                    + "time.", .yellow)
        }
        if forecast.uncovered.isEmpty, forecast.doubtful.isEmpty {
            lines.append(style("All rooms are covered, and no door is doubtful.", .green))
        }
        return lines
    }

    private func sentence(about change: RoomForecast.Change, from forecast: RoomForecast) -> String {
        let figures = "\(share(forecast.balanced.mean)) → \(share(change.forecast.balanced.mean))"
        let error = "the change is \(signed(change.mean)), its standard error \(share(change.standardError))"
        return change.isDifferent
            ? "Right \(figures) of the time: \(error)."
            : "No difference in the mean of all rooms: \(figures), \(error)."
    }

    private func ink(of share: Double, isRight: Bool) -> TextStyle.Ink? {
        if isRight { return share >= 0.85 ? .green : share >= 0.5 ? .yellow : .red }
        return share >= 0.15 ? .yellow : share < 0.005 ? .dim : nil
    }

    private func text(of figure: SeedFigure) -> String {
        figure.mean < 0.005 && figure.spread < 0.005
            ? "-" : "\(share(figure.mean)) ±\(share(figure.spread).dropFirst(figure.spread < 0.995 ? 1 : 0))"
    }

    private func share(_ value: Double) -> String {
        let hundredths = Int((abs(value) * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    private func signed(_ value: Double) -> String { (value < 0 ? "-" : "+") + share(value) }

    private func short(_ name: String) -> String {
        name.count > Self.longestName ? name.prefix(Self.longestName - 1) + "…" : name
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func pad(left text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}

/// The seconds of one simulated walk, by the room of the walker and by the place that was reported.
package struct RoomRun: Hashable, Sendable {
    /// A row for each room; the columns are the rooms, and last "in no place".
    private var seconds: [[Int]]

    init(rooms: Int) {
        seconds = [[Int]](repeating: [Int](repeating: 0, count: rooms + 1), count: rooms)
    }

    mutating func add(_ room: Int, reported: Int?) { seconds[room][reported ?? seconds.count] += 1 }

    /// The shares of the time in each room, in the same order.
    var shares: [[Double]] {
        seconds.map { row in
            let all = Double(row.reduce(0, +))
            return row.map { all > 0 ? Double($0) / all : 0 }
        }
    }
}

/// A figure over the seeds of a prediction: its mean, and its standard deviation.
package struct SeedFigure: Hashable, Sendable, Encodable {
    /// The mean of all seeds.
    package let mean: Double
    /// The standard deviation over the seeds.
    package let spread: Double

    init(_ values: [Double]) {
        let count = Double(max(values.count, 1))
        let mean = values.reduce(0, +) / count
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        self.mean = Self.rounded(mean)
        spread = values.count > 1 ? Self.rounded((squares / (count - 1)).squareRoot()) : 0
    }

    /// Returns a figure without digits that mean nothing.
    static func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }
}

/// A prediction of the reported places in each room.
package struct RoomForecast: Hashable, Sendable, Encodable {
    /// Two rooms that are often confused.
    package struct Doubt: Hashable, Sendable, Encodable {
        /// The room.
        package let room: String
        /// The room that is reported instead.
        package let reported: String
        /// The share of the time.
        package let share: Double
    }

    /// The names of the rooms.
    package let rooms: [String]

    /// The number of seeds.
    package let seeds: Int

    /// A row for each room with the shares of the reported places: the rooms, and last "in no place".
    package let confusion: [[SeedFigure]]

    /// The mean of the shares at which the rooms are right.
    package let balanced: SeedFigure

    /// The rooms that are right for less than half of the time, with half of the seeds or more.
    package let uncovered: [String]

    /// The doors that are doubtful: in a covered room, another one is reported for 15 % of the time or more.
    package let doubtful: [Doubt]

    /// The share at which each room is right, for each seed.
    private let rights: [[Double]]

    private enum CodingKeys: CodingKey { case rooms, seeds, confusion, balanced, uncovered, doubtful }

    /// The share of a wrong room from which a door is doubtful.
    private static let doubtfulShare = 0.15

    /// Creates the prediction of a survey from its runs, at least one.
    package init(_ survey: RoomSurvey, _ runs: [RoomRun]) {
        let names = survey.rooms.map(\.name)
        let shares = runs.map(\.shares)
        let confusion = names.indices.map { row in
            (0...names.count).map { column in SeedFigure(shares.map { $0[row][column] }) }
        }
        let rights = shares.map { run in names.indices.map { run[$0][$0] } }
        let isUncovered = names.indices.map { room in
            rights.count { $0[room] < 0.5 } * 2 >= rights.count
        }
        rooms = names
        seeds = runs.count
        self.confusion = confusion
        self.rights = rights
        balanced = SeedFigure(rights.map { $0.reduce(0, +) / Double(names.count) })
        uncovered = names.indices.filter { isUncovered[$0] }.map { names[$0] }
        doubtful = names.indices.filter { !isUncovered[$0] }.flatMap { room in
            names.indices.compactMap { reported -> Doubt? in
                let share = confusion[room][reported].mean
                guard reported != room, share >= Self.doubtfulShare else { return nil }
                return Doubt(room: names[room], reported: names[reported], share: share)
            }
        }
    }

    /// Returns the other room that is reported most in a room.
    package func mostlyReported(in room: String) -> Doubt? {
        guard let row = rooms.firstIndex(of: room) else { return nil }
        let others = rooms.indices.filter { $0 != row }
        guard let reported = others.max(by: { confusion[row][$0].mean < confusion[row][$1].mean }) else { return nil }
        return Doubt(room: room, reported: rooms[reported], share: confusion[row][reported].mean)
    }
}

extension RoomForecast {
    /// What one more receiver changes, compared seed by seed.
    package struct Change: Hashable, Sendable, Encodable {
        /// The prediction with the receiver.
        package let forecast: RoomForecast

        /// The change of ``RoomForecast/balanced``, and its standard error.
        package let mean: Double
        package let standardError: Double

        /// False if the change may be chance, or is too small to matter.
        package let isDifferent: Bool

        /// The rooms whose own share changes clearly, with the shares before and after.
        package let rooms: [RoomChange]
    }

    /// What one more receiver changes in one room.
    package struct RoomChange: Hashable, Sendable, Encodable {
        /// The room.
        package let room: String
        /// The share at which it is right, without the receiver.
        package let before: Double
        /// The share with the receiver.
        package let after: Double
    }

    /// The smallest changes that count, of the balanced share and of a room.
    private static let smallestChange = 0.03
    private static let smallestRoomChange = 0.1

    /// Compares with the prediction of the same floor and the same seeds with one more receiver.
    package func change(to other: RoomForecast) -> Change {
        func difference(_ values: (([Double]) -> Double)) -> (mean: Double, error: Double) {
            let figure = SeedFigure(zip(rights, other.rights).map { values($1) - values($0) })
            return (figure.mean, SeedFigure.rounded(figure.spread / Double(max(seeds, 1)).squareRoot()))
        }
        func isClear(_ change: (mean: Double, error: Double), _ smallest: Double) -> Bool {
            abs(change.mean) >= max(2 * change.error, smallest)
        }
        let all = difference { $0.reduce(0, +) / Double(max($0.count, 1)) }
        return Change(
            forecast: other, mean: all.mean, standardError: all.error, isDifferent: isClear(all, Self.smallestChange),
            rooms: rooms.indices.filter { room in isClear(difference { $0[room] }, Self.smallestRoomChange) }.map {
                RoomChange(room: rooms[$0], before: confusion[$0][$0].mean, after: other.confusion[$0][$0].mean)
            })
    }
}

/// The prediction of a survey, and of what one receiver more would change.
package struct RoomReport: Hashable, Sendable, Encodable {
    /// The prediction with the receivers of the survey.
    package let forecast: RoomForecast

    /// The room of the receiver that is tried; nil without one.
    package let tried: String?

    /// The change by it; nil without one.
    package let change: RoomForecast.Change?

    /// The numbers of seeds that are possible, and the usual one.
    package static let seeds = 2...64
    package static let usualSeeds = 8

    /// Predicts with some seeds.
    ///
    /// - Parameters:
    ///   - survey: the floor.
    ///   - seeds: the number of seeds, at least 1.
    ///   - receiver: a receiver to try; nil for none.
    ///   - shouldStop: called often; return true to end early.
    /// - Returns: the prediction; nil after an early end.
    /// - Throws: ``ScenarioError`` if the receiver to try is in no room.
    package static func make(
        _ survey: RoomSurvey, seeds: Int, trying receiver: RoomSurvey.Receiver? = nil,
        shouldStop: () -> Bool = { false }
    ) throws -> RoomReport? {
        let other = try receiver.map(survey.adding)
        func forecast(_ survey: RoomSurvey) -> RoomForecast? {
            var runs: [RoomRun] = []
            for seed in 1...max(1, seeds) {
                guard let run = survey.run(seed: UInt64(seed), shouldStop: shouldStop) else { return nil }
                runs.append(run)
            }
            return RoomForecast(survey, runs)
        }
        guard let first = forecast(survey) else { return nil }
        guard let other, let receiver else { return RoomReport(forecast: first, tried: nil, change: nil) }
        guard let second = forecast(other) else { return nil }
        return RoomReport(
            forecast: first, tried: receiver.place ?? survey.room(at: receiver.position),
            change: first.change(to: second))
    }
}

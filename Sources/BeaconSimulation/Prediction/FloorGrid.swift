import BeaconSupport

/// The points of a floor at which a walker may be, and the ways between them.
struct FloorGrid: Sendable {
    /// The distance between two neighbors, in meters.
    private static let spacing = 0.25

    /// The distance in meters that a walker keeps from walls.
    ///
    /// It exceeds half the diagonal between neighbors, so no step can cross a wall.
    private static let clearance = 0.2

    /// The width in meters of the narrowest gap that has a point of the grid wherever it is.
    static let narrowestDoor = 0.65

    /// The margin around the rooms in meters, for ways that lead outside.
    private static let margin = 1.0

    /// The maximum number of points: a floor of about 110 by 110 meters.
    private static let maximumPoints = 200_000

    /// The most distances between points and walls. A house needs a hundredth of it.
    private static let maximumWork = 20_000_000.0

    private let origin: Point
    private let columns: Int
    private let isFree: [Bool]

    /// For each room, the points to visit: half a meter apart, and all connected.
    let stops: [[Int]]

    /// Creates the points of a floor.
    ///
    /// - Parameters:
    ///   - rooms: the rooms, at least one.
    ///   - path: the place of the rooms, for errors.
    /// - Throws: ``ScenarioError`` if the floor is too large, or if rooms overlap or cannot be reached.
    init(rooms: [RoomOutline], walls: [Wall], path: String) throws {
        let corners = rooms.flatMap(\.corners)
        let (xs, ys) = (corners.map(\.x), corners.map(\.y))
        let origin = Point(x: (xs.min() ?? 0) - Self.margin, y: (ys.min() ?? 0) - Self.margin)
        let width = ((xs.max() ?? 0) + Self.margin - origin.x) / Self.spacing
        let height = ((ys.max() ?? 0) + Self.margin - origin.y) / Self.spacing
        guard (width + 1) * (height + 1) <= Double(Self.maximumPoints) else {
            let area = Double(Self.maximumPoints) * Self.spacing * Self.spacing
            throw ScenarioError(
                .tooLarge, at: path, "take more than \(Int(area)) square meters together; plan a part of the building")
        }
        // Combs of long slanted edges cost too much to draw on the grid.
        func cost(_ corners: [Point]) -> Double {
            let (xs, ys) = (corners.map(\.x), corners.map(\.y))
            return (((xs.max() ?? 0) - (xs.min() ?? 0)) / Self.spacing + 3)
                * (((ys.max() ?? 0) - (ys.min() ?? 0)) / Self.spacing + 3)
        }
        let work =
            walls.reduce(0) { $0 + cost([$1.start, $1.end]) }
            + rooms.reduce(0) { $0 + cost($1.corners) * Double($1.corners.count) }
        guard work <= Self.maximumWork else {
            throw ScenarioError(.tooLarge, at: path, "have too many long slanted walls; plan a part of the building")
        }
        let (columns, rows) = (Int(width) + 1, Int(height) + 1)

        /// Calls `body` for each point within `reach` of the box around some corners.
        func eachPoint(near corners: [Point], reach: Double, _ body: (Int, Point) throws -> Void) rethrows {
            func bounds(_ values: [Double], _ start: Double, _ count: Int) -> Range<Int> {
                let low = (((values.min() ?? 0) - reach - start) / Self.spacing).rounded(.up)
                let high = (((values.max() ?? 0) + reach - start) / Self.spacing).rounded(.down)
                let first = Int(max(0, min(low, Double(count))))
                return first..<max(first, Int(max(-1, min(high, Double(count - 1)))) + 1)
            }
            let across = bounds(corners.map(\.x), origin.x, columns)
            for row in bounds(corners.map(\.y), origin.y, rows) {
                for column in across {
                    let point = Point(
                        x: origin.x + Double(column) * Self.spacing, y: origin.y + Double(row) * Self.spacing)
                    try body(row * columns + column, point)
                }
            }
        }

        var isFree = [Bool](repeating: true, count: columns * rows)
        for wall in walls {
            eachPoint(near: [wall.start, wall.end], reach: Self.clearance) { index, point in
                if point.distance(toSegment: wall.start, wall.end) < Self.clearance { isFree[index] = false }
            }
        }
        var owner = [Int?](repeating: nil, count: columns * rows)
        for (number, room) in rooms.enumerated() {
            try eachPoint(near: room.corners, reach: 0) { index, point in
                guard room.contains(point) else { return }
                // Rooms may overlap a little where they are drawn with a shaky hand.
                if let other = owner[index], room.distanceToEdge(from: point) > 0.1,
                    rooms[other].distanceToEdge(from: point) > 0.1
                {
                    throw ScenarioError(
                        .conflict, at: "\(path)[\(number)]",
                        "\"\(room.name)\" overlaps \"\(rooms[other].name)\"; move its corners, so that each spot is in "
                            + "one room")
                }
                owner[index] = owner[index] ?? number
            }
        }
        self.origin = origin
        self.columns = columns
        self.isFree = isFree
        stops = try Self.stops(rooms, owner: owner, isFree: isFree, columns: columns, path: path)
    }

    /// Returns the points to visit in each room, all of them in the part of the floor that connects most rooms.
    private static func stops(
        _ rooms: [RoomOutline], owner: [Int?], isFree: [Bool], columns: Int, path: String
    ) throws -> [[Int]] {
        var part = [Int?](repeating: nil, count: isFree.count)
        var reached: [Set<Int>] = []
        for start in isFree.indices where isFree[start] && part[start] == nil {
            var found: Set<Int> = []
            var open = [start]
            part[start] = reached.count
            while let point = open.popLast() {
                if let room = owner[point] { found.insert(room) }
                for (neighbor, _) in neighbors(of: point, isFree: isFree, columns: columns) where part[neighbor] == nil
                {
                    part[neighbor] = reached.count
                    open.append(neighbor)
                }
            }
            reached.append(found)
        }
        let main = reached.indices.max { reached[$0].count < reached[$1].count }
        var stops = [[Int]](repeating: [], count: rooms.count)
        var narrow = stops
        var isReachable = [Bool](repeating: false, count: rooms.count)
        for point in isFree.indices where isFree[point] {
            guard let room = owner[point] else { continue }
            isReachable[room] = true
            guard part[point] == main else { continue }
            let (row, column) = point.quotientAndRemainder(dividingBy: columns)
            if row % 2 == 0, column % 2 == 0 { stops[room].append(point) } else { narrow[room].append(point) }
        }
        for room in rooms.indices where stops[room].isEmpty {
            let place = "\(path)[\(room)]"
            guard isReachable[room] else {
                throw ScenarioError(
                    .invalidValue, at: place,
                    "\"\(rooms[room].name)\" has no spot to stand on that is \(clearance) m away from walls; check its "
                        + "corners and walls")
            }
            guard !narrow[room].isEmpty else {
                throw ScenarioError(
                    .invalidValue, at: place,
                    "\"\(rooms[room].name)\" has no way in from the other rooms; add a door: a gap of \(narrowestDoor) m "
                        + "or more in the walls")
            }
            stops[room] = narrow[room]
        }
        return stops
    }

    /// Returns the free neighbors of a point, with the lengths of the ways in tenths of the spacing.
    private static func neighbors(of point: Int, isFree: [Bool], columns: Int) -> [(Int, Int64)] {
        let column = point % columns
        var found: [(Int, Int64)] = []
        for down in -1...1 {
            for right in -1...1 where (down, right) != (0, 0) {
                let neighbor = point + down * columns + right
                guard isFree.indices.contains(neighbor), 0..<columns ~= column + right, isFree[neighbor] else {
                    continue
                }
                found.append((neighbor, down == 0 || right == 0 ? 10 : 14))
            }
        }
        return found
    }

    /// Returns the position of a point.
    func position(of point: Int, height: Double) -> Point {
        let (row, column) = point.quotientAndRemainder(dividingBy: columns)
        return Point(
            x: origin.x + Double(column) * Self.spacing, y: origin.y + Double(row) * Self.spacing, z: height)
    }

    /// Returns the corners of the shortest way between two connected points, without the first point.
    func way(from start: Int, to end: Int) -> [Int] {
        guard start != end else { return [] }
        // From the end, so that following the steps gives the way in order.
        var next: [Int: Int] = [:]
        var lengths: [Int: Int64] = [end: 0]
        var queue = EventQueue()
        queue.insert(EventQueue.Event(time: 0, sender: end))
        while let nearest = queue.first, nearest.sender != start {
            queue.replaceFirst(with: nil)
            guard lengths[nearest.sender] == nearest.time else { continue }
            for (neighbor, step) in Self.neighbors(of: nearest.sender, isFree: isFree, columns: columns) {
                let length = nearest.time + step
                if length < lengths[neighbor, default: .max] {
                    lengths[neighbor] = length
                    next[neighbor] = nearest.sender
                    queue.insert(EventQueue.Event(time: length, sender: neighbor))
                }
            }
        }
        var way: [Int] = []
        var (point, step) = (start, 0)
        while let following = next[point] {
            if !way.isEmpty, following - point == step { way.removeLast() }
            step = following - point
            way.append(following)
            point = following
        }
        return way
    }
}

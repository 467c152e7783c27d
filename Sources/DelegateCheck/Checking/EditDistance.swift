/// How many bytes two words differ by.
enum EditDistance {
    /// The least number of insertions, deletions, replacements and swaps of neighbours that make one of the other, or
    /// one more than the limit where it is above that.
    static func between(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int {
        if abs(left.count - right.count) > limit { return limit + 1 }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            if (current.min() ?? 0) > limit { return limit + 1 }
            beforeLast = last
            last = current
        }
        return min(last[right.count], limit + 1)
    }
}

/// Where the lines of a source start.
struct LineTable {
    private var starts = [0]

    init(_ source: [UInt8]) {
        for index in source.indices {
            let byte = source[index]
            let isLoneReturn =
                byte == UInt8(ascii: "\r") && (index + 1 == source.count || source[index + 1] != UInt8(ascii: "\n"))
            if byte == UInt8(ascii: "\n") || isLoneReturn { starts.append(index + 1) }
        }
    }

    /// The line and column of a byte, both counted from 1; columns count bytes, as the compiler's do.
    func place(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - starts[low] + 1)
    }
}

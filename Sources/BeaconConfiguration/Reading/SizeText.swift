/// Sizes in bytes, in the form of configurations: a number and `B`, `kB`, `MB`, `GB`, or `KiB`, `MiB`, `GiB`.
package enum SizeText {
    private static let units: [String: Double] = [
        "": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824,
        "TiB": 1_099_511_627_776,
    ]

    /// Parses a size.
    ///
    /// - Returns: nil if the text is anything else.
    package static func bytes(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let name = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Double(digits), let unit = units[String(name)], number * unit <= 1e15 else { return nil }
        return Int64(number * unit)
    }

    /// Returns a size in the largest unit of which it is a whole number.
    package static func text(_ bytes: Int) -> String {
        let unit = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)].first {
            bytes >= $0.1 && bytes % $0.1 == 0
        }
        return unit.map { "\(bytes / $0.1)\($0.0)" } ?? "\(bytes)B"
    }
}

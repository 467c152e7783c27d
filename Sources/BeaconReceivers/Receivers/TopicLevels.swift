/// The levels of a topic, counted from its end. The last levels are the most specific.
struct TopicLevels {
    /// The most levels that matter; levels before them are the user's prefix.
    private static let most = 6

    private var ranges = InlineArray<6, Range<Int>>(repeating: 0..<0)
    /// The number of known levels.
    private(set) var count = 0
    /// The number of bytes before the last two levels and the slash before them.
    private(set) var prefixCount = 0

    /// Creates no levels, for messages without a topic.
    init() {}

    /// Finds the levels of a topic.
    init(_ topic: RawSpan) {
        var end = topic.byteCount
        var position = end
        while count < Self.most {
            position -= 1
            let isSlash =
                position >= 0 && topic.unsafeLoad(fromByteOffset: position, as: UInt8.self) == UInt8(ascii: "/")
            guard isSlash || position < 0 else { continue }
            ranges[count] = position + 1..<end
            count += 1
            if count == 2 { prefixCount = max(position, 0) }
            guard isSlash else { return }
            end = position
        }
    }

    /// The range of a level; 1 is the last one. The range is empty if the topic has no such level.
    subscript(last number: Int) -> Range<Int> { number <= count ? ranges[number - 1] : 0..<0 }
}

extension RawSpan {
    /// Returns true if the bytes end with a text and are longer than it.
    func ends(_ range: Range<Int>, in text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return range.count > count && equals(range.upperBound - count..<range.upperBound, text)
    }
}

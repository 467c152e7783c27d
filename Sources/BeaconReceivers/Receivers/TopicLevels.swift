/// The levels of a topic, counted from its end, where what says the most stands.
struct TopicLevels {
    /// A topic has no more levels that matter; what is before them is the user's prefix.
    private static let most = 6

    private var ranges = InlineArray<6, Range<Int>>(repeating: 0..<0)
    /// The number of levels that are known.
    private(set) var count = 0
    /// The number of bytes before the last two levels, and the slash behind them.
    private(set) var prefixCount = 0

    /// No levels: of what came by another way.
    init() {}

    /// The levels of a topic.
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

    /// The place of a level; 1 is the last one. An empty place where the topic has no such level.
    subscript(last number: Int) -> Range<Int> { number <= count ? ranges[number - 1] : 0..<0 }
}

extension RawSpan {
    /// Returns true where bytes end in a text, and are longer.
    func ends(_ range: Range<Int>, in text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return range.count > count && equals(range.upperBound - count..<range.upperBound, text)
    }
}

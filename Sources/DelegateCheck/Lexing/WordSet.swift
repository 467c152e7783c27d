/// Words to be found again by their bytes, without making a string of each word asked about.
struct WordSet {
    private let byLength: [[[UInt8]]]

    init(_ words: [String]) {
        var byLength: [[[UInt8]]] = []
        for word in words {
            let bytes = Array(word.utf8)
            while byLength.count <= bytes.count { byLength.append([]) }
            byLength[bytes.count].append(bytes)
        }
        self.byLength = byLength
    }

    /// Whether the bytes are one of the words.
    func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count < byLength.count else { return false }
        return byLength[bytes.count].contains { $0.elementsEqual(bytes) }
    }
}

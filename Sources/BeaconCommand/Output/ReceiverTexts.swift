import BeaconModel

/// The names of receivers in the form of an output. Each name is converted once, so that the cost of an advert does not
/// depend on the number of receivers.
struct ReceiverTexts {
    private var known: [(name: String, text: [UInt8])] = []
    private let convert: (String) -> [UInt8]

    init(_ convert: @escaping (String) -> [UInt8]) { self.convert = convert }

    /// Returns the text of a receiver's name.
    ///
    /// - Parameter names: the names of all receivers. A place may pass to another receiver.
    mutating func text(of receiver: ReceiverID, in names: [String]) -> [UInt8] {
        let place = Int(receiver.index)
        while known.count <= place { known.append((names[known.count], convert(names[known.count]))) }
        if known[place].name != names[place] { known[place] = (names[place], convert(names[place])) }
        return known[place].text
    }
}

/// The receivers that a message proves to be alive, while it is read.
///
/// A receiver is alive if a message names it, or arrives at its topic, whatever the message contains. The exception is
/// a message whose adverts are all too old: the receiver sent it some time ago.
struct SignsOfLife {
    private struct Sign {
        var place: Int
        var isFresh = false
        var isLate = false
    }

    private var signs: [Sign] = []

    /// True if the message named no receiver.
    var isEmpty: Bool { signs.isEmpty }

    /// The index of the receiver that the message named; nil if it named none or several.
    var only: Int? { signs.count == 1 ? signs[0].place : nil }

    /// Forgets the previous message.
    mutating func begin() { signs.removeAll(keepingCapacity: true) }

    /// Notes a receiver that the message named.
    mutating func add(_ place: Int) {
        if !signs.contains(where: { $0.place == place }) { signs.append(Sign(place: place)) }
    }

    /// Notes whether an advert in the message is too old.
    mutating func add(_ place: Int, isLate: Bool) {
        add(place)
        for index in signs.indices where signs[index].place == place {
            if isLate { signs[index].isLate = true } else { signs[index].isFresh = true }
        }
    }

    /// The number of receivers that the message named.
    var count: Int { signs.count }

    /// Returns the index of a receiver that the message named; nil if the message does not prove that it is alive.
    func living(_ number: Int) -> Int? {
        let sign = signs[number]
        return sign.isFresh || !sign.isLate ? sign.place : nil
    }
}

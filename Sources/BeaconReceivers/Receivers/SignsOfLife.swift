/// The receivers whose life a message proves, while it is read.
///
/// A receiver lives if a message names it, or came at its topic, whatever else is in the message. Only a message whose
/// adverts all are too old proves nothing: the receiver sent it some time ago.
struct SignsOfLife {
    private struct Sign {
        var place: Int
        var isFresh = false
        var isLate = false
    }

    private var signs: [Sign] = []

    /// True where the message named no receiver.
    var isEmpty: Bool { signs.isEmpty }

    /// The place of the receiver that the message named; nil where it named none or several.
    var only: Int? { signs.count == 1 ? signs[0].place : nil }

    /// Forgets the message before.
    mutating func begin() { signs.removeAll(keepingCapacity: true) }

    /// Notes that the message is of a receiver.
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

    /// Returns the place of a receiver that the message named; nil where the message does not prove that it lives.
    func living(_ number: Int) -> Int? {
        let sign = signs[number]
        return sign.isFresh || !sign.isLate ? sign.place : nil
    }
}

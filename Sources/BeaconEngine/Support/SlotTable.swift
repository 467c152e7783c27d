/// A table of values by number.
///
/// Numbers are reused, so that a program that adds and removes values for years needs memory only for the values it has
/// at once. A generation distinguishes an old holder of a number from the new one.
struct SlotTable<Element> {
    /// A value's number, with the generation of its holder.
    struct ID: Hashable {
        var number: Int32
        var generation: UInt32
    }

    private struct Slot {
        var generation: UInt32
        var element: Element?
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []

    /// The number of values.
    var count: Int { slots.count - free.count }

    /// The highest number ever assigned, plus one.
    var extent: Int { slots.count }

    mutating func insert(_ element: Element) -> ID {
        if let number = free.popLast() {
            slots[Int(number)].element = element
            return ID(number: number, generation: slots[Int(number)].generation)
        }
        slots.append(Slot(generation: 0, element: element))
        return ID(number: Int32(slots.count - 1), generation: 0)
    }

    /// Removes and returns a value; nil if it was already removed.
    mutating func remove(_ id: ID) -> Element? {
        guard let element = self[id] else { return nil }
        slots[Int(id.number)].element = nil
        slots[Int(id.number)].generation &+= 1
        free.append(id.number)
        return element
    }

    /// The value with this ID, or nil if it was removed.
    subscript(id: ID) -> Element? {
        guard Int(id.number) < slots.count, slots[Int(id.number)].generation == id.generation else { return nil }
        return slots[Int(id.number)].element
    }

    /// Returns the ID of the current value with this number, if any.
    func id(at number: Int) -> ID? {
        guard slots[number].element != nil else { return nil }
        return ID(number: Int32(number), generation: slots[number].generation)
    }

    /// Changes the value with this ID, unless it was removed.
    mutating func update(_ id: ID, _ change: (inout Element) -> Void) {
        guard var element = self[id] else { return }
        change(&element)
        slots[Int(id.number)].element = element
    }
}

/// What happens next: a binary heap with one entry for each sender that has something left to send.
struct EventQueue: Sendable {
    /// A sender's next transmission.
    struct Event: Comparable, Sendable {
        /// Nanoseconds after the start of the simulation.
        var time: Int64

        /// The sender, which also decides who is first where times are equal.
        var sender: Int

        static func < (left: Event, right: Event) -> Bool {
            left.time == right.time ? left.sender < right.sender : left.time < right.time
        }
    }

    private var heap: [Event] = []

    /// What happens next.
    var first: Event? { heap.first }

    mutating func insert(_ event: Event) {
        heap.append(event)
        var place = heap.count - 1
        while place > 0, heap[place] < heap[(place - 1) / 2] {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Puts another event in the place of the first, or nothing.
    mutating func replaceFirst(with event: Event?) {
        guard let event else {
            guard let last = heap.popLast() else { return }
            if !heap.isEmpty { sink(last) }
            return
        }
        sink(event)
    }

    private mutating func sink(_ event: Event) {
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < event else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = event
    }
}

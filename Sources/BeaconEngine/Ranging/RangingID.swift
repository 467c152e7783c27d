/// The engine's name for a ranging request. It is never given out twice.
public struct RangingID: Hashable, Sendable {
    let number: Int32
    let generation: UInt32

    init(_ id: SlotTable<RangingSlot>.ID) {
        number = id.number
        generation = id.generation
    }

    var slot: SlotTable<RangingSlot>.ID { .init(number: number, generation: generation) }
}

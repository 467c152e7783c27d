/// The engine's name for a monitored region. It is never given out twice.
public struct RegionID: Hashable, Sendable {
    let number: Int32
    let generation: UInt32

    init(_ id: SlotTable<RegionSlot>.ID) {
        number = id.number
        generation = id.generation
    }

    var slot: SlotTable<RegionSlot>.ID { .init(number: number, generation: generation) }
}

import BeaconModel
import BeaconRadio

/// Brings what a controller sends to what is wanted: each beacon in an advertising set of its own where there are enough,
/// else several in turn.
///
/// Adverts carry a non-resolvable private address that is made up for this (Core Specification 5.3, Vol 6, Part B,
/// 1.3.2.2), as bluetoothd's do: so the air does not learn the address of the machine, and a beacon keeps one address as
/// long as it is sent, by which receivers tell two of the same identity apart.
struct AdvertisingControl {
    /// Whether there are advertising sets.
    var isExtended = false

    /// How many there are.
    var setCount = 1

    /// Numbers of sets that other processes of ours use.
    var takenSets: Set<UInt8> = []

    private(set) var wanted: [[UInt8]] = []
    private var slots: [AdvertisingSlot] = []
    private var retiring: [HCICommand] = []
    private var isStarted = false
    private let makeAddress: () -> DeviceAddress

    /// The highest number of a set (7.8.53). Ours are counted from there down, since bluetoothd counts from 1 up.
    private static let lastSet: UInt8 = 0xEF

    init(makeAddress: @escaping () -> DeviceAddress) { self.makeAddress = makeAddress }

    /// An address for adverts: 46 random bits below two zeros.
    static func randomAddress() -> DeviceAddress {
        DeviceAddress(bits: .random(in: 1..<1 << 46), kind: .random)
    }

    /// The next command towards what is wanted, or nil where there is nothing to do.
    var next: HCICommand? { retiring.first ?? slots.lazy.compactMap(\.outstanding.first).first }

    /// What takes everything back, wherever we are on the way.
    var undo: [HCICommand] { retiring + slots.flatMap(\.undo) }

    /// Whether all that is wanted is on the air.
    var isSettled: Bool { next == nil }

    /// Whether several beacons share a slot.
    var takesTurns: Bool { slots.contains { $0.adverts.count > 1 } }

    /// How many slots are in use.
    var slotCount: Int { slots.count }

    /// Sends these adverts from now on and no others.
    mutating func want(_ adverts: [[UInt8]]) {
        wanted = adverts
        retiring += slots.flatMap(\.undo)
        arrange()
    }

    /// The controller was reset, or is another: nothing is on the air.
    mutating func forget() {
        retiring = []
        arrange()
    }

    private mutating func arrange() {
        slots = []
        guard !wanted.isEmpty else { return }
        guard isExtended else {
            slots = [AdvertisingSlot(set: nil, address: makeAddress(), adverts: wanted)]
            return
        }
        let sets = (0...Self.lastSet).reversed().lazy.filter { [takenSets] in !takenSets.contains($0) }
            .prefix(min(max(setCount, 1), wanted.count))
        slots = sets.enumerated().map { place, set in
            let own = stride(from: place, to: wanted.count, by: sets.count).map { wanted[$0] }
            return AdvertisingSlot(set: set, address: makeAddress(), adverts: own)
        }
    }

    /// The controller did what `next` asked for. Meanwhile something else may be wanted, of which it is no part any more.
    mutating func done(_ command: HCICommand) {
        if retiring.first == command {
            retiring.removeFirst()
            return
        }
        for index in slots.indices where slots[index].done(command) { return }
    }

    /// The controller refused what `next` asked for.
    ///
    /// - Returns: whether that is a fault. Else there is another way.
    mutating func refused(_ command: HCICommand, _ status: HCIStatus) -> Bool {
        // What is not there any more needs no taking back; and a scan of others keeps the address that it began with, which
        // then serves us too.
        let isRemoval =
            command.opcode == .removeAdvertisingSet || (command.opcode.isAdvertisingEnable && !command.isEnabling)
        if isRemoval || (command.opcode == .setRandomAddress && status == .disallowed) {
            done(command)
            return false
        }
        // Another process of ours, or whoever else counts from above, has this set.
        if command.opcode == .setExtendedAdvertisingParameters, status == .disallowed,
            let set = command.parameters.first, takenSets.count < Int(Self.lastSet)
        {
            takenSets.insert(set)
            want(wanted)
            return false
        }
        // Fewer sets are free than there are.
        if [.memoryFull, .limitReached].contains(status), isExtended, slots.count > 1 {
            setCount = slots.count - 1
            want(wanted)
            return false
        }
        for index in slots.indices { slots[index].begin() }
        return true
    }

    /// Lets the next of the beacons that share a slot have its turn.
    mutating func takeTurns() {
        for index in slots.indices { slots[index].takeTurn() }
    }

    /// Other software had the controller do this.
    ///
    /// - Returns: whether it took something of ours off the air.
    mutating func observe(_ command: HCICommand) -> Bool {
        guard !slots.isEmpty else { return false }
        switch command.opcode {
        case .reset, .clearAdvertisingSets:
            forget()
            return true
        case .setAdvertisingEnable where !isExtended, .setAdvertisingParameters where !isExtended:
            // Whatever is sent by the only slot from here on is theirs.
            slots[0].lose()
            return true
        case .setAdvertisingData where !isExtended:
            slots[0].begin()
            return true
        case .setExtendedAdvertisingEnable where !command.isEnabling, .removeAdvertisingSet:
            let named = command.advertisingSets
            var isOurs = false
            for index in slots.indices where named.isEmpty || slots[index].set.map(named.contains) == true {
                slots[index].begin()
                isOurs = true
            }
            return isOurs
        default: return false
        }
    }
}

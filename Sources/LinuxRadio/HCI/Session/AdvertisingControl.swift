import BeaconModel

/// The way from what a controller sends to what is wanted: each beacon in an advertising set of its own where there are
/// enough, else several in turn.
///
/// Adverts carry a non-resolvable private address that is made up for this (Core Specification 5.3, Vol 6, Part B,
/// 1.3.2.2), as bluetoothd's do: so the air does not learn the address of the machine. A beacon with a set of its own
/// keeps its address as long as it is sent, by which receivers distinguish two of the same identity, unless addresses
/// are to change now and then.
struct AdvertisingControl {
    /// True if there are advertising sets.
    var isExtended = false

    /// The number of sets that can be used.
    var setCount = 1

    /// Numbers of sets that other processes of ours use.
    var setsOfOthers: Set<UInt8> = []

    /// The adverts to send, each once.
    private(set) var wanted: [OutgoingAdvert] = []
    private var slots: [AdvertisingSlot] = []
    private var retiring: [HCICommand] = []
    private let makeAddress: () -> DeviceAddress

    /// The highest number of a set (7.8.53). Ours are counted from there down, since bluetoothd counts from 1 up.
    private static let lastSet: UInt8 = 0xEF

    init(makeAddress: @escaping () -> DeviceAddress) { self.makeAddress = makeAddress }

    /// Makes an address for adverts: 46 random bits below two zeros.
    static func randomAddress() -> DeviceAddress {
        DeviceAddress(bits: .random(in: 1..<1 << 46), kind: .random)
    }

    /// The next command towards what is wanted, or nil where there is nothing to do for now.
    var next: HCICommand? {
        retiring.first ?? slots.lazy.filter { !$0.isRefused }.compactMap(\.outstanding.first).first
    }

    /// The commands that take everything back, wherever we are on the way.
    var undo: [HCICommand] { retiring + slots.flatMap(\.undo) }

    /// True if nothing is under way to what is wanted.
    var isSettled: Bool { next == nil }

    /// The adverts that are on the air, in their turn where they share a slot.
    var onAir: [OutgoingAdvert] { slots.filter(\.isOnAir).flatMap(\.adverts) }

    /// True if the controller refused a slot, which waits for ``retry()``.
    var isHeldUp: Bool { slots.contains(where: \.isRefused) }

    /// The adverts of slots that the controller refused.
    var refused: [OutgoingAdvert] { slots.filter(\.isRefused).flatMap(\.adverts) }

    /// True if several beacons share a slot.
    var takesTurns: Bool { slots.contains { $0.adverts.count > 1 } }

    /// The number of slots in use.
    var slotCount: Int { slots.count }

    /// Sets the adverts to send. An advert that has a set of its own stays on the air in it.
    mutating func want(_ adverts: [OutgoingAdvert]) {
        let new = adverts.enumerated().filter { adverts.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        guard new != wanted else { return }
        wanted = new
        arrange()
    }

    /// Begins anew: the controller was reset, or is another, and nothing is on the air.
    mutating func forget() {
        retiring = []
        slots = []
        arrange()
    }

    /// Tries again what the controller refused.
    mutating func retry() {
        for index in slots.indices where slots[index].isRefused { slots[index].begin() }
    }

    /// Gives each wanted advert its slot, and takes back the slots that are not wanted any more.
    private mutating func arrange() {
        let hasSetForEach = isExtended && wanted.count <= max(setCount, 1)
        let kept = slots.filter { slot in
            hasSetForEach && slot.set != nil && slot.adverts.count == 1 && wanted.contains(slot.adverts[0])
        }
        retiring += slots.filter { slot in !kept.contains { $0.set == slot.set } }.flatMap(\.undo)
        slots = kept
        let missing = wanted.filter { advert in !kept.contains { $0.adverts[0] == advert } }
        guard !missing.isEmpty else { return }
        guard isExtended else {
            slots = [AdvertisingSlot(set: nil, address: makeAddress(), adverts: wanted)]
            return
        }
        let keptSets = Set(kept.compactMap(\.set))
        let sets = (0...Self.lastSet).reversed().lazy
            .filter { [setsOfOthers] in !setsOfOthers.contains($0) && !keptSets.contains($0) }
            .prefix(min(max(setCount, 1) - kept.count, missing.count))
        slots += sets.enumerated().map { place, set in
            let own = stride(from: place, to: missing.count, by: sets.count).map { missing[$0] }
            return AdvertisingSlot(set: set, address: makeAddress(), adverts: own)
        }
    }

    /// Notes that the controller did what `next` asked for. Meanwhile something else may be wanted, of which it is no
    /// part any more.
    mutating func done(_ command: HCICommand) {
        if retiring.first == command {
            retiring.removeFirst()
            return
        }
        for index in slots.indices where slots[index].done(command) { return slots[index].renewIfDue() }
    }

    /// Notes that the controller refused what `next` asked for. Where there is no other way, the slot that it was for
    /// waits for ``retry()``, and the others are sent meanwhile.
    ///
    /// - Returns: whether that is a fault. Else there is another way.
    mutating func refused(_ command: HCICommand, _ status: HCIStatus) -> Bool {
        // What is not there any more needs no taking back; and a scan of others keeps the address that it began with,
        // which then serves us too.
        let isRemoval =
            command.opcode == .removeAdvertisingSet || (command.opcode.isAdvertisingEnable && !command.isEnabling)
        if isRemoval || (command.opcode == .setRandomAddress && status == .disallowed) {
            done(command)
            return false
        }
        let refused = slots.firstIndex { $0.outstanding.first == command }
        // Another process of ours, or other software that counts from above, has this set.
        if command.opcode == .setExtendedAdvertisingParameters, status == .disallowed,
            let set = command.parameters.first, setsOfOthers.count < Int(Self.lastSet)
        {
            setsOfOthers.insert(set)
            if let refused { retiring += slots.remove(at: refused).undo }
            arrange()
            return false
        }
        // Fewer sets are free than there are.
        if [.memoryFull, .limitReached].contains(status), isExtended, slots.count > 1 {
            setCount = slots.count - 1
            arrange()
            return false
        }
        // Its advert is not wanted any more.
        guard let refused else { return false }
        slots[refused].begin()
        slots[refused].isRefused = true
        return true
    }

    /// Gives the next of the beacons that share a slot its turn.
    mutating func advanceTurns() {
        for index in slots.indices { slots[index].advanceTurn() }
    }

    /// Gives each slot another address, once no other command is outstanding for it.
    mutating func renewAddresses() {
        for index in slots.indices {
            slots[index].nextAddress = makeAddress()
            slots[index].renewIfDue()
        }
    }

    /// Notes what other software had the controller do.
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
        case .setAdvertisingData where !isExtended, .setScanResponseData where !isExtended:
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

/// An advert that a controller can send at a time: an advertising set, or its only legacy advert.
struct AdvertisingSlot {
    /// The set's number; nil for the legacy advert.
    let set: UInt8?

    /// The adverts that take turns in it.
    let adverts: [OutgoingAdvert]

    /// True if the controller refused it, so that it waits for another attempt.
    var isRefused = false

    /// The advert whose turn it is.
    private(set) var turn = 0

    /// The commands that are still to be sent, in this order.
    private(set) var outstanding: [HCICommand] { didSet { isTurning = false } }

    /// True if the command that is outstanding only gives another advert its turn.
    private var isTurning = false

    /// True if the controller gave it to us, by taking our parameters, which it does while no other software sends by
    /// it. Before that there is nothing to take back, and what is on the air is other software's.
    private var isOurs = false

    private var address: DeviceAddress

    /// The address that takes the place of the one on the air; nil where that stays.
    var nextAddress: DeviceAddress?

    init(set: UInt8?, address: DeviceAddress, adverts: [OutgoingAdvert]) {
        self.set = set
        self.address = address
        self.adverts = adverts
        outstanding = []
        outstanding = setUp
    }

    /// Begins anew, whatever the controller did with it: what was there is taken off first, since parameters cannot be
    /// set while it is sent.
    mutating func begin() {
        outstanding = undo + setUp
        isRefused = false
    }

    /// True if its adverts are on the air, each in its turn.
    var isOnAir: Bool { outstanding.isEmpty || isTurning }

    /// Begins anew, since other software took it.
    mutating func lose() {
        isOurs = false
        begin()
    }

    /// Parameters, address, data, enable.
    private var setUp: [HCICommand] {
        if let set {
            [
                .setExtendedAdvertisingParameters(set: set, isScannable: isScannable),
                .setAdvertisingSetAddress(address, set: set),
            ] + data + [.setExtendedAdvertisingEnable(true, set: set)]
        } else {
            [.setAdvertisingParameters(isScannable: isScannable), .setRandomAddress(address)] + data
                + [.setAdvertisingEnable(true)]
        }
    }

    /// True if any of its adverts has a scan response: the parameters are those of all.
    private var isScannable: Bool { adverts.contains { !$0.scanResponse.isEmpty } }

    /// The commands that set the data of the advert whose turn it is.
    private var data: [HCICommand] {
        let advert = adverts[turn]
        let data =
            set.map { HCICommand.setExtendedAdvertisingData(advert.advert, set: $0) }
            ?? .setAdvertisingData(advert.advert)
        guard isScannable else { return [data] }
        let response =
            set.map { HCICommand.setExtendedScanResponseData(advert.scanResponse, set: $0) }
            ?? .setScanResponseData(advert.scanResponse)
        return [data, response]
    }

    /// Strikes a command that the controller has done off those outstanding.
    ///
    /// - Returns: whether it was the first of them.
    mutating func done(_ command: HCICommand) -> Bool {
        guard outstanding.first == command else { return false }
        let wasTurning = isTurning
        outstanding.removeFirst()
        isTurning = wasTurning && !outstanding.isEmpty
        if command == setUp.first { isOurs = true }
        return true
    }

    /// Gives it its next address, if there is one and nothing else is outstanding.
    mutating func renewIfDue() {
        guard let next = nextAddress, outstanding.isEmpty else { return }
        nextAddress = nil
        address = next
        // The controller takes an address while nothing is sent by it only (Core Specification, Vol 4, Part E, 7.8.4
        // and 7.8.52).
        if let set, isOurs {
            outstanding = [
                .setExtendedAdvertisingEnable(false, set: set), .setAdvertisingSetAddress(address, set: set),
                .setExtendedAdvertisingEnable(true, set: set),
            ]
        } else {
            begin()
        }
    }

    /// Gives the next advert its turn.
    mutating func advanceTurn() {
        guard adverts.count > 1, outstanding.isEmpty else { return }
        turn = (turn + 1) % adverts.count
        outstanding = data
        isTurning = true
    }

    /// The commands that take it off the air.
    var undo: [HCICommand] {
        guard isOurs else { return [] }
        guard let number = self.set else { return [.setAdvertisingEnable(false)] }
        return [.setExtendedAdvertisingEnable(false, set: number), .removeAdvertisingSet(number)]
    }
}

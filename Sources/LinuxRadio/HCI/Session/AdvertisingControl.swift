import BeaconModel

/// A control loop that brings the controller's adverts to the requested ones. Each beacon has its own advertising set
/// if there are enough; otherwise several share a set and take turns.
///
/// Adverts carry a random non-resolvable private address (Core Specification 5.3, Vol 6, Part B, 1.3.2.2), as
/// bluetoothd's do, so they do not reveal the machine's address. A beacon with its own set keeps its address while it
/// is sent, unless address rotation is on. Receivers distinguish two beacons of the same identity by their addresses.
struct AdvertisingControl {
    /// True if the controller has advertising sets.
    var isExtended = false

    /// The number of usable sets.
    var setCount = 1

    /// The sets that other processes of ours use.
    var setsOfOthers: Set<UInt8> = []

    /// The adverts to send, each once.
    private(set) var wanted: [OutgoingAdvert] = []
    private var slots: [AdvertisingSlot] = []
    private var retiring: [HCICommand] = []
    private let makeAddress: () -> DeviceAddress

    /// The highest number of a set (7.8.53). We count down from it, since bluetoothd counts up from 1.
    private static let lastSet: UInt8 = 0xEF

    init(makeAddress: @escaping () -> DeviceAddress) { self.makeAddress = makeAddress }

    /// Returns a random address for adverts: 46 random bits after two zeros.
    static func randomAddress() -> DeviceAddress {
        DeviceAddress(bits: .random(in: 1..<1 << 46), kind: .random)
    }

    /// The next command towards the goal, or nil if there is nothing to do for now.
    var next: HCICommand? {
        retiring.first ?? slots.lazy.filter { !$0.isRefused }.compactMap(\.outstanding.first).first
    }

    /// The commands that end everything, in any intermediate state.
    var undo: [HCICommand] { retiring + slots.flatMap(\.undo) }

    /// True if no command is left to send.
    var isSettled: Bool { next == nil }

    /// The adverts on the air, including those that take turns in a slot.
    var onAir: [OutgoingAdvert] { slots.filter(\.isOnAir).flatMap(\.adverts) }

    /// True if the controller refused a slot, which waits for ``retry()``.
    var isHeldUp: Bool { slots.contains(where: \.isRefused) }

    /// The adverts of refused slots.
    var refused: [OutgoingAdvert] { slots.filter(\.isRefused).flatMap(\.adverts) }

    /// True if several beacons share a slot.
    var takesTurns: Bool { slots.contains { $0.adverts.count > 1 } }

    /// The number of slots in use.
    var slotCount: Int { slots.count }

    /// Sets the adverts to send. An advert with its own set stays on the air.
    mutating func want(_ adverts: [OutgoingAdvert]) {
        let new = adverts.enumerated().filter { adverts.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        guard new != wanted else { return }
        wanted = new
        arrange()
    }

    /// Starts over after a reset or a change of the controller: nothing is on the air.
    mutating func forget() {
        retiring = []
        slots = []
        arrange()
    }

    /// Tries refused slots again.
    mutating func retry() {
        for index in slots.indices where slots[index].isRefused { slots[index].begin() }
    }

    /// Gives each wanted advert its slot, and removes the slots that are no longer wanted.
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

    /// Notes that the controller carried out a command from `next`. The request may have changed since, so that the
    /// command is no longer part of it.
    mutating func done(_ command: HCICommand) {
        if retiring.first == command {
            retiring.removeFirst()
            return
        }
        for index in slots.indices where slots[index].done(command) { return slots[index].renewIfDue() }
    }

    /// Notes that the controller refused a command from `next`. If there is no other way, the command's slot waits for
    /// ``retry()``; the other slots are sent in the meantime.
    ///
    /// - Returns: true for a fault, false if there is another way.
    mutating func refused(_ command: HCICommand, _ status: HCIStatus) -> Bool {
        // A set that does not exist needs no removal. While other software scans, the controller keeps its random
        // address, which then serves our adverts too.
        let isRemoval =
            command.opcode == .removeAdvertisingSet || (command.opcode.isAdvertisingEnable && !command.isEnabling)
        if isRemoval || (command.opcode == .setRandomAddress && status == .disallowed) {
            done(command)
            return false
        }
        let refused = slots.firstIndex { $0.outstanding.first == command }
        // Another process of ours, or other software that counts down, uses this set.
        if command.opcode == .setExtendedAdvertisingParameters, status == .disallowed,
            let set = command.parameters.first, setsOfOthers.count < Int(Self.lastSet)
        {
            setsOfOthers.insert(set)
            if let refused { retiring += slots.remove(at: refused).undo }
            arrange()
            return false
        }
        // Fewer sets are free than exist.
        if [.memoryFull, .limitReached].contains(status), isExtended, slots.count > 1 {
            setCount = slots.count - 1
            arrange()
            return false
        }
        // The command's advert is no longer wanted.
        guard let refused else { return false }
        slots[refused].begin()
        slots[refused].isRefused = true
        return true
    }

    /// Advances the turn in each slot that several beacons share.
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

    /// Notes a command that the controller carried out for other software.
    ///
    /// - Returns: true if it took something of ours off the air.
    mutating func observe(_ command: HCICommand) -> Bool {
        guard !slots.isEmpty else { return false }
        switch command.opcode {
        case .reset, .clearAdvertisingSets:
            forget()
            return true
        case .setAdvertisingEnable where !isExtended, .setAdvertisingParameters where !isExtended:
            // From here on the only slot sends the other software's adverts.
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

/// A slot of a controller for one advert at a time: an advertising set, or its only legacy advert.
struct AdvertisingSlot {
    /// The set's number; nil for the legacy advert.
    let set: UInt8?

    /// The adverts that take turns in the slot.
    let adverts: [OutgoingAdvert]

    /// True if the controller refused the slot, so that it waits for another attempt.
    var isRefused = false

    /// The advert whose turn it is.
    private(set) var turn = 0

    /// The commands that remain to be sent, in this order.
    private(set) var outstanding: [HCICommand] { didSet { isTurning = false } }

    /// True if the outstanding commands only advance the turn.
    private var isTurning = false

    /// True if the controller accepted our parameters for the slot, which it does only while no other software sends
    /// with it. Before that it has nothing to end, and any advert on the air belongs to other software.
    private var isOurs = false

    private var address: DeviceAddress

    /// The address that will replace the current one; nil to keep it.
    var nextAddress: DeviceAddress?

    init(set: UInt8?, address: DeviceAddress, adverts: [OutgoingAdvert]) {
        self.set = set
        self.address = address
        self.adverts = adverts
        outstanding = []
        outstanding = setUp
    }

    /// Starts over in any state of the controller. First takes the slot off the air, since parameters cannot be set
    /// while it is sent.
    mutating func begin() {
        outstanding = undo + setUp
        isRefused = false
    }

    /// True if its adverts are on the air, each in its turn.
    var isOnAir: Bool { outstanding.isEmpty || isTurning }

    /// Starts over after other software took the slot.
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

    /// True if any of its adverts has a scan response, since all of them share the parameters.
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

    /// Removes a command that the controller has carried out from those outstanding.
    ///
    /// - Returns: true if it was the first of them.
    mutating func done(_ command: HCICommand) -> Bool {
        guard outstanding.first == command else { return false }
        let wasTurning = isTurning
        outstanding.removeFirst()
        isTurning = wasTurning && !outstanding.isEmpty
        if command == setUp.first { isOurs = true }
        return true
    }

    /// Changes to the next address, if there is one and no other command is outstanding.
    mutating func renewIfDue() {
        guard let next = nextAddress, outstanding.isEmpty else { return }
        nextAddress = nil
        address = next
        // The controller accepts an address only while the slot is not sent (Core Specification, Vol 4, Part E, 7.8.4
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

    /// Advances the turn to the next advert.
    mutating func advanceTurn() {
        guard adverts.count > 1, outstanding.isEmpty else { return }
        turn = (turn + 1) % adverts.count
        outstanding = data
        isTurning = true
    }

    /// The commands that take the slot off the air.
    var undo: [HCICommand] {
        guard isOurs else { return [] }
        guard let number = self.set else { return [.setAdvertisingEnable(false)] }
        return [.setExtendedAdvertisingEnable(false, set: number), .removeAdvertisingSet(number)]
    }
}

import BeaconModel

/// One thing that a controller can send at a time: an advertising set, or its only legacy advert.
struct AdvertisingSlot {
    /// The set's number; nil for the legacy advert.
    let set: UInt8?

    /// The adverts that take turns in it.
    let adverts: [[UInt8]]

    /// Whose turn it is.
    private(set) var turn = 0

    /// The commands that are still to be sent, in this order.
    private(set) var outstanding: [HCICommand]

    /// Whether the controller gave it to us, by taking our parameters, which it does while nobody else sends by it. Before
    /// that there is nothing to take back, and what is on the air is somebody else's.
    private var isOurs = false

    private let address: DeviceAddress

    init(set: UInt8?, address: DeviceAddress, adverts: [[UInt8]]) {
        self.set = set
        self.address = address
        self.adverts = adverts
        outstanding = []
        outstanding = setUp
    }

    /// Begins anew, whatever the controller did with it: what was there is taken off first, since parameters cannot be set
    /// while it is sent.
    mutating func begin() { outstanding = undo + setUp }

    /// Begins anew, since other software took it.
    mutating func lose() {
        isOurs = false
        begin()
    }

    /// Parameters, address, data, enable.
    private var setUp: [HCICommand] {
        if let set {
            [
                .setExtendedAdvertisingParameters(set: set), .setAdvertisingSetAddress(address, set: set),
                .setExtendedAdvertisingData(adverts[turn], set: set), .setExtendedAdvertisingEnable(true, set: set),
            ]
        } else {
            [
                .setAdvertisingParameters(), .setRandomAddress(address), .setAdvertisingData(adverts[turn]),
                .setAdvertisingEnable(true),
            ]
        }
    }

    /// This command was done, if it is the first of those outstanding.
    ///
    /// - Returns: whether it was.
    mutating func done(_ command: HCICommand) -> Bool {
        guard outstanding.first == command else { return false }
        outstanding.removeFirst()
        if command == setUp.first { isOurs = true }
        return true
    }

    /// Lets the next advert have its turn.
    mutating func takeTurn() {
        guard adverts.count > 1, outstanding.isEmpty else { return }
        turn = (turn + 1) % adverts.count
        outstanding = [
            set.map { .setExtendedAdvertisingData(adverts[turn], set: $0) } ?? .setAdvertisingData(adverts[turn])
        ]
    }

    /// What takes it off the air.
    var undo: [HCICommand] {
        guard isOurs else { return [] }
        guard let number = self.set else { return [.setAdvertisingEnable(false)] }
        return [.setExtendedAdvertisingEnable(false, set: number), .removeAdvertisingSet(number)]
    }
}

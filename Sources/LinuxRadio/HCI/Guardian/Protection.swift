import BeaconModel
import BeaconRadio
import CBluetooth
import CLibrary

/// The protection against adverts that outlive this process: a guardian in case this process dies, a claim in case the
/// guardian dies too.
struct Protection: ~Copyable {
    /// True if the adapter was off before and is switched off again at the end. If this process dies, the adapter stays
    /// on, since other software may use it by then.
    let isLent: Bool

    private var adapter: LocalAdapter
    private var guardian: Guardian?
    private var place: String?
    private var notices: [(kind: RadioNotice.Kind, message: String)] = []
    private let directory: ClaimDirectory?
    private let socket: Int32?

    /// - Parameters:
    ///   - adapter: the adapter in use.
    ///   - isLent: true to switch the adapter off at the end.
    ///   - directory: the folder for claims; nil for no claims.
    ///   - socket: the socket on which a guardian sends commands; nil to open the adapter when necessary.
    init(_ adapter: LocalAdapter, isLent: Bool, directory: ClaimDirectory?, socket: Int32? = nil) {
        self.adapter = adapter
        self.isLent = isLent
        self.directory = directory
        self.socket = socket
    }

    /// The key of a claim on an adapter: its address, since its number may change.
    private var key: String { adapter.address.bits == 0 ? adapter.name : adapter.address.description }

    /// Returns the commands that end the adverts and scans of dead processes on the adapter, and deletes their claims.
    mutating func abandoned() -> [HCICommand] {
        var commands: [HCICommand] = []
        for (place, claim) in directory?.claims(on: key) ?? [] where !claim.owner.isAlive {
            commands += claim.commands
            unlink(place)
        }
        if !commands.isEmpty {
            notices.append(
                (.endedLeftovers, "an earlier process left adverts or a scan on the adapter; they are ended."))
        }
        return commands
    }

    /// Returns true if another living process of ours uses the adapter.
    func isShared() -> Bool {
        (directory?.claims(on: key) ?? []).contains { $0.place != place && $0.claim.owner.isAlive }
    }

    /// Returns the advertising sets that living processes use.
    func setsInUse() -> Set<UInt8> {
        Set(
            (directory?.claims(on: key) ?? []).flatMap(\.claim.commands).flatMap {
                $0.opcode == .removeAdvertisingSet ? $0.advertisingSets : []
            })
    }

    /// Sets the commands to send if this process dies.
    mutating func protect(_ commands: [HCICommand]) {
        guard let owner = Claim.Owner.current else { return }
        if let directory {
            let place = place ?? directory.place(for: key, owner: owner)
            self.place = place
            if commands.isEmpty {
                unlink(place)
            } else {
                _ = TextFile.write(Claim(owner: owner, commands: commands).text, to: place)
            }
        }
        guard !commands.isEmpty || guardian != nil else { return }
        if guardian == nil { start() }
        if (try? guardian?.protect(commands)) == nil {
            // Something else ended the guardian. Another one replaces it.
            guardian = nil
            start()
            try? guardian?.protect(commands)
        }
    }

    private mutating func start() {
        do throws(HCISystemError) {
            guardian = try Guardian(adapter: adapter.index, claim: place, socket: socket)
        } catch {
            let message =
                "cannot start a guardian process: \(error). If this process is killed, its adverts stay on the air."
            notices.append((.degraded, message))
        }
    }

    /// Handles the return of the adapter, perhaps with another number.
    mutating func move(to adapter: LocalAdapter) {
        if let place { unlink(place) }
        self.adapter = adapter
        place = nil
        guardian = nil
    }

    /// Returns the new notices.
    mutating func drainNotices(_ name: String) -> [RadioNotice] {
        defer { notices = [] }
        return notices.map { RadioNotice($0.kind, adapter: name, $0.message) }
    }

    /// Ends the protection.
    ///
    /// - Parameter isUndone: true if nothing is left on the air. Otherwise the guardian tries once more.
    mutating func end(isUndone: Bool) {
        if isUndone {
            if let place { unlink(place) }
            guardian = nil
        } else if let guardian = guardian.take() {
            guardian.undo()
        }
        place = nil
    }
}

/// A process that ends this process's adverts and scan if this process dies without doing so.
struct Guardian: ~Copyable {
    private let descriptor: Int32

    /// Starts a guardian for an adapter.
    ///
    /// - Parameters:
    ///   - claim: the file to remove once all commands were sent.
    ///   - socket: the socket on which to send the commands; nil to open the adapter when necessary.
    init(adapter: UInt16, claim: String?, socket: Int32? = nil) throws(HCISystemError) {
        descriptor = beacon_guardian_start(adapter, claim, socket ?? -1)
        guard descriptor >= 0 else { throw HCISystemError(errno) }
    }

    /// Sets the commands that the guardian sends.
    func protect(_ commands: [HCICommand]) throws(HCISystemError) {
        let bytes = commands.flatMap(\.packet)
        guard beacon_guardian_protect(descriptor, bytes, bytes.count) == 0 else {
            throw HCISystemError(errno)
        }
    }

    /// Ends the guardian, since nothing is left on the air.
    consuming func dismiss() {}

    /// Makes the guardian send its commands now.
    consuming func undo() {
        close(descriptor)
        discard self
    }

    deinit { beacon_guardian_dismiss(descriptor) }
}

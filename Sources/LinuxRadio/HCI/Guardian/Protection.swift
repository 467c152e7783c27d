import BeaconModel
import BeaconRadio
import CBluetooth
import Glibc

/// Sees to it that nothing of this process stays on an adapter when it dies: a guardian for any death of its own, a claim for
/// the case that the guardian dies too.
struct Protection: ~Copyable {
    /// Whether the adapter was off before it was used, and is switched off again at the end. Where this process dies
    /// instead, it stays on, since nobody can tell any more who else has come to use it.
    let isLent: Bool

    private var adapter: LocalAdapter
    private var guardian: Guardian?
    private var place: String?
    private var notices: [(kind: RadioNotice.Kind, message: String)] = []
    private let directory: ClaimDirectory?
    private let socket: Int32?

    /// - Parameters:
    ///   - adapter: the adapter that is used.
    ///   - isLent: whether it is switched off at the end.
    ///   - directory: where claims are kept; nil for none.
    ///   - socket: what a guardian sends commands to; nil to open the adapter when that is needed.
    init(_ adapter: LocalAdapter, isLent: Bool, directory: ClaimDirectory?, socket: Int32? = nil) {
        self.adapter = adapter
        self.isLent = isLent
        self.directory = directory
        self.socket = socket
    }

    /// What a claim on an adapter goes by: its address, since its number may change.
    private var key: String { adapter.address.bits == 0 ? adapter.name : adapter.address.description }

    /// What processes left on the adapter that are gone, with their guardians.
    mutating func abandoned() -> [HCICommand] {
        var commands: [HCICommand] = []
        for (place, claim) in directory?.claims(on: key) ?? [] where !claim.owner.isAlive {
            commands += claim.commands
            unlink(place)
        }
        if !commands.isEmpty {
            notices.append((.takenBack, "what an earlier process left on the adapter is taken back."))
        }
        return commands
    }

    /// Whether another living process of ours uses the adapter.
    func isShared() -> Bool {
        (directory?.claims(on: key) ?? []).contains { $0.place != place && $0.claim.owner.isAlive }
    }

    /// The advertising sets that living processes use.
    func setsInUse() -> Set<UInt8> {
        Set(
            (directory?.claims(on: key) ?? []).flatMap(\.claim.commands).flatMap {
                $0.opcode == .removeAdvertisingSet ? $0.advertisingSets : []
            })
    }

    /// Has these commands sent when this process dies, in place of those named before.
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
            // Somebody ended the guardian. Another one takes its place.
            guardian = nil
            start()
            try? guardian?.protect(commands)
        }
    }

    private mutating func start() {
        do throws(HCISystemError) {
            guardian = try Guardian(adapter: adapter.index, claim: place, socket: socket)
        } catch {
            let message = "no process could be started that takes back what is on the air if this one dies: \(error)."
            notices.append((.degraded, message))
        }
    }

    /// The adapter came back, perhaps as another number.
    mutating func move(to adapter: LocalAdapter) {
        if let place { unlink(place) }
        self.adapter = adapter
        place = nil
        guardian = nil
    }

    /// What has to be told, once.
    mutating func takeNotices(_ name: String) -> [RadioNotice] {
        defer { notices = [] }
        return notices.map { RadioNotice($0.kind, adapter: name, $0.message) }
    }

    /// Lets the guardian go.
    ///
    /// - Parameter isTakenBack: whether nothing is left on the air. Else the guardian tries once more.
    mutating func end(isTakenBack: Bool) {
        if isTakenBack {
            if let place { unlink(place) }
            guardian = nil
        } else if let guardian = guardian.take() {
            guardian.takeBack()
        }
        place = nil
    }
}

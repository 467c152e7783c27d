import CBluetooth
import Glibc

/// A process that takes back what this one left on the air, where this one dies without doing so itself.
struct Guardian: ~Copyable {
    private let descriptor: Int32

    /// Starts one for an adapter.
    ///
    /// - Parameters:
    ///   - claim: the file to remove once everything was taken back.
    ///   - socket: where to send the commands to; nil to open the adapter when that is needed.
    init(adapter: UInt16, claim: String?, socket: Int32? = nil) throws(HCISystemError) {
        descriptor = beacon_guardian_start(adapter, claim, socket ?? -1)
        guard descriptor >= 0 else { throw HCISystemError(errno) }
    }

    /// Says what to take back from now on.
    func protect(_ commands: [HCICommand]) throws(HCISystemError) {
        let bytes = commands.flatMap(\.packet)
        guard beacon_guardian_tell(descriptor, bytes, bytes.count) == 0 else {
            throw HCISystemError(errno)
        }
    }

    /// Lets it end, since everything was taken back.
    consuming func dismiss() {}

    /// Has it take everything back now.
    consuming func takeBack() {
        close(descriptor)
        discard self
    }

    deinit { beacon_guardian_dismiss(descriptor) }
}

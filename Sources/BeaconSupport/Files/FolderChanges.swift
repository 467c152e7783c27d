import CLibrary

/// The changes in a folder, as reported by the kernel (inotify(7)).
package final class FolderChanges: Sendable {
    /// The changes since the last call.
    package enum Changes {
        /// These files were replaced, removed or closed.
        case names([String])
        /// Some changes were lost, or the folder itself was replaced: check everything.
        case lost
    }

    /// The descriptor that is readable when there are changes.
    package let descriptor: Int32

    /// Starts to observe a folder; nil if the kernel refuses because too many processes of this user observe folders
    /// (`fs.inotify.max_user_instances`).
    package init?(of folder: String) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        // A process that ends closes its lock file, which was open for writing.
        let kinds = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)
        // `deinit` also runs if this fails, and closes the descriptor.
        guard inotify_add_watch(descriptor, folder, kinds | UInt32(IN_ONLYDIR)) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Reads the changes since the last call, without waiting.
    package func read() -> Changes {
        var names: [String] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = CLibrary.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return .names(names) }
            var place = 0
            // inotify(7): watch, mask, cookie and length of the name, 4 bytes each; then the name, padded with zeros.
            while place + 16 <= count {
                let (mask, length) = buffer.withUnsafeBytes { bytes in
                    (
                        bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self),
                        Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
                    )
                }
                if mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0 { return .lost }
                let name = buffer[(place + 16)..<min(place + 16 + length, count)]
                names.append(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
                place += 16 + length
            }
        }
    }
}

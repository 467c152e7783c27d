import BeaconService
import Glibc

extension SourceSettings {
    /// Whether what the source gives is to go on at once, since it comes slowly and somebody may wait for it.
    var isGradual: Bool {
        if pace != .fastest { return true }
        guard case .file(let path) = specification else { return true }
        var status = stat()
        // A pipe may be fed by a program that runs for days.
        return path == "-" || (stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
    }
}

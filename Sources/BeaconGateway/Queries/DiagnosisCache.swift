import Dispatch
package import LinuxRadio

/// The findings of `beacon doctor`, which queries the kernel and bluetoothd.
package actor DiagnosisCache {
    /// How long findings are valid.
    private static let lifetime = Duration.seconds(10)

    private var newest: (time: ContinuousClock.Instant, findings: Task<[Finding], Never>)?

    package init() {}

    /// Returns the findings, which are at most ten seconds old.
    package func findings() async -> [Finding] {
        if let newest, .now - newest.time < Self.lifetime { return await newest.findings.value }
        let task = Task {
            await withCheckedContinuation { continuation in
                // On a thread that may block.
                DispatchQueue.global().async { continuation.resume(returning: Diagnosis.findings()) }
            }
        }
        newest = (.now, task)
        return await task.value
    }
}

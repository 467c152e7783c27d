import Dispatch
package import LinuxRadio

/// The findings of `beacon doctor`, which asks the kernel and bluetoothd.
package actor DiagnosisCache {
    /// The time for which findings hold.
    private static let lifetime = Duration.seconds(10)

    private var newest: (time: ContinuousClock.Instant, findings: Task<[Finding], Never>)?

    package init() {}

    /// Returns the findings of the last ten seconds.
    package func findings() async -> [Finding] {
        if let newest, .now - newest.time < Self.lifetime { return await newest.findings.value }
        let task = Task {
            await withCheckedContinuation { continuation in
                // On a thread that may wait for it.
                DispatchQueue.global().async { continuation.resume(returning: Diagnosis.findings()) }
            }
        }
        newest = (.now, task)
        return await task.value
    }
}

package import BeaconModel
package import BeaconRadio

/// The driver of a scenario's air, which plays like a recording.
package final class ScenarioDriver: ReceiverDriver {
    package let name = "simulation"
    package let isRecording = true
    private var air: ScenarioSource

    /// Opens the air of a scenario, before the first transmission.
    ///
    /// - Parameter isRepeated: true to restart the scenario at its end, forever.
    package init(_ scenario: Scenario, isRepeated: Bool) { air = ScenarioSource(scenario, isRepeated: isRepeated) }

    package var receiverNames: [String] { air.receiverNames }

    package func process(at now: Timestamp, into batch: inout AdvertBatch) throws {
        let record = try air.next { batch.hear($0, $1) }
        batch.counts = air.counts
        batch.time = record?.time
        if record == nil { batch.end() }
    }
}

package import BeaconModel
package import BeaconRadio

/// The driver of a scenario's air, which plays as a recording.
package final class ScenarioDriver: ReceiverDriver {
    package let name = "simulation"
    package let isRecording = true
    private var air: ScenarioSource

    /// Opens the air of a scenario, before anything was sent.
    ///
    /// - Parameter isRepeated: true where the scenario begins again at its end, without end.
    package init(_ scenario: Scenario, isRepeated: Bool) { air = ScenarioSource(scenario, isRepeated: isRepeated) }

    package var receiverNames: [String] { air.receiverNames }

    package func process(at now: Timestamp, into batch: inout AdvertBatch) throws {
        let record = try air.next { batch.hear($0, $1) }
        batch.counts = air.counts
        batch.time = record?.time
        if record == nil { batch.end() }
    }
}

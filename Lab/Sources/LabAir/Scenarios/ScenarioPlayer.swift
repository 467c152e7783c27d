import BeaconModel
import BeaconRadio
import BeaconSimulation
import VirtualController

/// Plays a scenario from a moment on, in the time that it is told.
struct ScenarioPlayer: Sendable {
    private var air: ScenarioSource
    private let start: Int64

    /// What is heard next and when, as the air says only by going on.
    private var pending: (time: Int64, adverts: [HeardAdvert])?

    init(_ scenario: Scenario, start: Int64) {
        air = ScenarioSource(scenario)
        self.start = start
        fetch()
    }

    /// When something is heard next, or nil at the end of the scenario.
    var deadline: Int64? { pending?.time }

    /// How long it has played, in nanoseconds.
    func elapsed(at time: Int64) -> Int64 { time - start }

    /// The next adverts that are due at a moment, or nil where none are.
    mutating func next(upTo time: Int64) -> [HeardAdvert]? {
        guard let pending, pending.time <= time else { return nil }
        fetch()
        return pending.adverts
    }

    private mutating func fetch() {
        var adverts: [HeardAdvert] = []
        // The simulated air itself has no errors, and gathering makes none.
        let record = try? air.next { reception, data in
            let report = reception.report
            let packet = AirPacket(
                form: AdvertisingForm(report.kind), address: report.address,
                data: data.withUnsafeBytes { Array($0) })
            adverts.append(
                HeardAdvert(receiver: Int(reception.receiver.index), packet: packet, rssi: report.rssi.rawValue))
        }
        pending = record?.time.map { (start + $0.since(ScenarioSource.start), adverts) }
    }
}

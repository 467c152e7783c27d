import BeaconModel
import BeaconRadio
import BeaconSimulation
import VirtualController

/// A player of a scenario from a start time on, in its caller's time.
struct ScenarioPlayer: Sendable {
    private var air: ScenarioSource
    private let start: Int64

    /// The next adverts and their time. The source reveals them only by advancing.
    private var pending: (time: Int64, adverts: [HeardAdvert])?

    init(_ scenario: Scenario, start: Int64) {
        air = ScenarioSource(scenario)
        self.start = start
        fetch()
    }

    /// The time of the next adverts, or nil at the end of the scenario.
    var deadline: Int64? { pending?.time }

    /// Returns how long it has played, in nanoseconds.
    func elapsed(at time: Int64) -> Int64 { time - start }

    /// Returns the next adverts that are due, or nil if there are none.
    mutating func next(upTo time: Int64) -> [HeardAdvert]? {
        guard let pending, pending.time <= time else { return nil }
        fetch()
        return pending.adverts
    }

    private mutating func fetch() {
        var adverts: [HeardAdvert] = []
        // The simulated air throws no errors, and neither does this closure.
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

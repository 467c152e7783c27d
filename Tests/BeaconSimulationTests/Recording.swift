import BeaconModel
import BeaconRadio
import BeaconSimulation

/// The adverts and records that a simulation delivered.
struct Recording {
    /// An advert as one receiver heard it.
    struct Entry: Hashable {
        /// The time in seconds after the start of the simulation.
        var time: Double
        var receiver: Int
        var address: DeviceAddress
        var kind: AdvertisingReport.Kind
        var rssi: Int
        var advert: [UInt8]
        /// The iBeacon frame in the advert, if there is one.
        var frame: IBeaconFrame?

        /// The minor value, if the advert is an iBeacon.
        var minor: UInt16? { frame?.identity.minor }
        var major: UInt16? { frame?.identity.major }
    }

    var entries: [Entry] = []
    /// The times of the records in nanoseconds after the start.
    var records: [Int64] = []
    var counts = SourceCounts()
    var receiverNames: [String] = []

    init(_ scenario: Scenario) throws {
        var air = ScenarioSource(scenario)
        var entries: [Entry] = []
        while let record = try air.next({ reception, advert in
            entries.append(
                Entry(
                    time: Double(reception.time?.since(ScenarioSource.start) ?? -1) / 1e9,
                    receiver: Int(reception.receiver.index), address: reception.report.address,
                    kind: reception.report.kind, rssi: Int(reception.report.rssi.rawValue),
                    advert: (0..<advert.byteCount).map { advert.unsafeLoad(fromByteOffset: $0, as: UInt8.self) },
                    frame: IBeaconFrame(advert: advert)))
        }) {
            records.append(record.time?.since(ScenarioSource.start) ?? -1)
        }
        self.entries = entries
        counts = air.counts
        receiverNames = air.receiverNames
    }

    /// Records a scenario in JSON.
    init(_ json: String) throws { try self.init(Scenario(json: Array(json.utf8))) }

    var meanRSSI: Double { Double(entries.reduce(0) { $0 + $1.rssi }) / Double(entries.count) }

    /// The standard deviation of the strengths.
    var deviation: Double {
        let mean = meanRSSI
        let sum = entries.reduce(0.0) { $0 + (Double($1.rssi) - mean) * (Double($1.rssi) - mean) }
        return (sum / Double(entries.count)).squareRoot()
    }

    /// Returns the entries within a range of seconds.
    func entries(_ seconds: Range<Double>) -> [Entry] { entries.filter { seconds.contains($0.time) } }
}

/// An environment without random effects.
let calm = #""environment": {"pathLossExponent": 2, \#(noFading), "loss": 0, "sensitivity": -120}"#

/// The keys of an environment without any fading.
let noFading = #""shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": null"#

/// A UUID member for the top level of a scenario.
let uuidLine = #""uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0""#

import BeaconMonitoring

// Prints every second the beacons that a custom receiver hears.
var configuration = MonitoringSession.Configuration()
configuration.rangings = [nil]
var session = MonitoringSession(
    configuration, source: SourceReader([try DatagramDriver(port: 7000)]), pace: .fastest)
try session.run { event in
    guard case .ranged(let report) = event else { return }
    for beacon in report.beacons { print(report.time.seconds, beacon.identity, beacon.accuracy) }
}

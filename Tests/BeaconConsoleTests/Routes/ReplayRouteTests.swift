import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Replays in the console")
struct ReplayRouteTests {
    @Test(
        "A change that does not fit the recorded region is refused with the fault of the file",
        arguments: [("-90", 400), ("-80", 200)])
    func refusal(minimum: String, status: Int) async throws {
        let bench = try GatewayBench()
        let runner = ScriptedRunner()
        let folder = bench.folder.appendingPathComponent("journal").path
        let web = try WebBench(
            sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner], bench: bench,
            journal: Journal(folder: folder, settings: JournalSettings(), logger: bench.lines.logger)
        ) { configuration in
            var hall = GatewayBench.region("hall", minor: 1)
            (hall.region.minimumRSSI, hall.region.exitRSSI) = (-75, -85)
            configuration.regions = [hall]
        }
        let run = Task { await web.gateway.run() }
        await ScriptedRadios.onThread {
            runner.channel.send(.opened)
            runner.channel.send(.state(.poweredOn))
            for second in 1000...1010 {
                runner.channel.send(.heard(ScriptedRadios.batch(hearing: [Double(second)], until: Double(second))))
            }
        }
        let answer = try await web.ask(.get, "/v1/replay?from=900&to=1100&with=regions.minimum-rssi=\(minimum)")
        #expect(answer.status == status)
        let fault = #"region hall: \"exit-rssi\" is -85, above \"minimum-rssi\", which is -90"#
        #expect(answer.body.contains(fault) == (status == 400), "\(answer.body)")
        await web.gateway.stop()
        await ScriptedRadios.onThread { runner.channel.finish() }
        await run.value
    }
}

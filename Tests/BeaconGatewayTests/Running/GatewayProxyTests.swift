import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import BeaconSupport
import GatewayTestSupport
import TestSupport
import Testing

@Suite("A gateway with a proxy")
struct GatewayProxyTests {
    @Test("Radios scan for all adverts while a proxy client wants them, and otherwise for the regions")
    func scanMode() async throws {
        let bench = try GatewayBench()
        let port = try FreePort.find()
        var settings = ProxySettings(name: "hall")
        settings.port = port
        settings.address = "127.0.0.1"
        settings.isAnnounced = false
        let proxy = try ProxyServer(settings) { _ in }
        let radio = ScriptedRunner()
        let gateway = bench.gateway([GatewayBench.radio("a", isNamed: true)], runners: ["a": radio], proxy: proxy)
        let running = Task { await gateway.run() }
        let passing = Task { await ProxyRun(proxy: proxy, gateway: gateway).run() }
        let ofRegions = ScanMode.monitoring([GatewayBench.constraint.uuid])
        try await eventually { radio.mode.withLock { $0 } == ofRegions }
        let client = SourceRunner(SourceSpecification("esphome:127.0.0.1:\(port)"), pace: .fastest, mode: .ranging)
        client.start()
        let reading = Task { for await _ in client.channel {} }
        try await eventually { radio.mode.withLock { $0 } == .ranging }
        client.stop()
        await reading.value
        try await eventually { radio.mode.withLock { $0 } == ofRegions }
        await gateway.stop()
        radio.channel.finish()
        await running.value
        passing.cancel()
        await passing.value
    }

    @Test("The gateway's own events do not depend on proxy clients")
    func sameEvents() async throws {
        var changes: [[String]] = []
        for isProxy in [false, true] {
            let bench = try GatewayBench()
            var settings = ProxySettings(name: "hall")
            settings.port = try FreePort.find()
            settings.isAnnounced = false
            let proxy = isProxy ? try ProxyServer(settings) { _ in } : nil
            proxy?.start()
            let source = SourceSettings(
                name: "museum", specification: SourceSpecification("simulation:museum"), pace: .fastest)
            var region = GatewayBench.region("hall")
            region.region.constraint = try #require(BeaconConstraint("e2c56db5-dffb-48d2-b060-d0f5a71096e0"))
            await bench.gateway([source], regions: [region], proxy: proxy).run()
            changes.append(bench.notified)
            await proxy?.stop()
        }
        #expect(changes[0] == changes[1] && !changes[0].isEmpty)
    }
}

import BeaconTestKit
import CoreLocation
import Foundation
import Testing

@Suite("CLMonitor and its names in the states of an app")
@MainActor
struct AppMonitorTests {
    private let air = SimulatedAir()
    private var device: SimulatedDevice { air.device }
    private let record = Record()

    @MainActor
    final class Record {
        var entries: [String] = []
        var opens = true

        func take() -> [String] {
            defer { entries = [] }
            return entries
        }
    }

    /// An app that opens its monitor in a task, as Apple's documentation shows.
    @MainActor
    private final class App {
        private let record: Record

        init(_ record: Record) {
            self.record = record
            record.entries.append("launch")
            if record.opens { Task { [self] in await open() } }
        }

        func open() async {
            let monitor = await CLMonitor("shop")
            let condition = CLMonitor.BeaconIdentityCondition(uuid: museum)
            await monitor.add(condition, identifier: "museum", assuming: .unsatisfied)
            do {
                for try await event in await monitor.events {
                    record.entries.append(event.accuracyLimited ? "limited" : "\(event.state)")
                }
            } catch {}
        }
    }

    private func launch() async {
        device.launch { [record] in App(record) }
        await air.advance(by: .seconds(31))
        #expect(record.take() == ["launch"])
    }

    @Test("An event of a monitor, with permission always (L5)", arguments: Column.allCases)
    func event(column: Column) async {
        await launch()
        await move(column)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        switch column {
        case .foreground, .awake, .suspended: #expect(record.take() == ["satisfied"])
        case .endedBySystem: #expect(record.take() == ["launch", "satisfied"])
        case .endedByUser: #expect(record.take() == [])
        }
    }

    @Test(
        "An event of a monitor, with permission while in use, waits for the app's return (L5)",
        arguments: Column.allCases)
    func whenInUse(column: Column) async {
        await launch()
        device.authorize(.authorizedWhenInUse)
        await move(column)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(record.take() == (column == .foreground ? ["satisfied"] : []))
        device.enterForeground()
        await air.advance(by: .seconds(1))
        switch column {
        case .foreground: #expect(record.take() == [])
        case .awake, .suspended: #expect(record.take() == ["satisfied"])
        case .endedBySystem, .endedByUser: #expect(record.take() == ["launch", "satisfied"])
        }
    }

    @Test("An event waits until the app opens its monitor again (L5)")
    func notOpened() async {
        await launch()
        device.end(by: .system)
        record.opens = false
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(20))
        #expect(record.take() == ["launch"])
        device.enterForeground()
        let app = device.app(as: App.self)
        device.run { _ = Task { await app?.open() } }
        await air.settle()
        #expect(record.take() == ["satisfied"])
    }

    @Test("A monitor names reduced accuracy (L4)")
    func accuracy() async {
        await launch()
        device.accuracy = .reducedAccuracy
        await air.settle()
        #expect(record.take() == ["limited"])
    }

    private func move(_ column: Column) async {
        device.backgroundPolicy.backgroundWindow = column == .suspended ? .zero : .seconds(5)
        switch column {
        case .foreground: break
        case .awake, .suspended: device.enterBackground()
        case .endedBySystem: device.end(by: .system)
        case .endedByUser: device.end(by: .user)
        }
        await air.settle()
    }

    // MARK: - Names

    @Test("In the strict mode, a monitor's name that iOS refuses ends the program (M2)")
    func invalidNames() async {
        await #expect(processExitsWith: .failure) { await openStrictly(["my-monitor"]) }
        await #expect(processExitsWith: .failure) { await openStrictly([""]) }
        await #expect(processExitsWith: .success) { await openStrictly(["Shop1"]) }
    }

    @Test("In the strict mode, a second monitor with an open one's name ends the program (M3)")
    func nameInUse() async {
        await #expect(processExitsWith: .failure) { await openStrictly(["shop", "shop"]) }
        await #expect(processExitsWith: .success) { await openStrictly(["shop", "street"]) }
    }

    @Test("In the strict mode, background updates without the background mode end the program (L20)")
    func backgroundUpdates() async {
        await #expect(processExitsWith: .failure) {
            let air = SimulatedAir()
            air.device.isStrict = true
            air.device.hasLocationBackgroundMode = false
            air.device.run { CLLocationManager() }.allowsBackgroundLocationUpdates = true
            await air.settle()
        }
    }

    @Test("Otherwise any name works, and one that is in use again after its monitor is gone (M2, M3)")
    func lenient() async {
        for name in ["my-monitor", ""] {
            let monitor = await device.run { await CLMonitor(name) }
            await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: museum), identifier: "museum")
            let second = await device.run { await CLMonitor(name) }
            #expect(await second.identifiers == ["museum"])
        }
        await #expect(processExitsWith: .success) {
            await openStrictly(["shop"])
            await openStrictly(["shop"])
        }
    }
}

/// Opens monitors one after another in the strict mode, and keeps them until the last one is open.
private func openStrictly(_ names: [String]) async {
    let air = SimulatedAir()
    air.device.isStrict = true
    var monitors: [CLMonitor] = []
    for name in names { monitors.append(await air.device.run { await CLMonitor(name) }) }
    #expect(monitors.count == names.count)
}

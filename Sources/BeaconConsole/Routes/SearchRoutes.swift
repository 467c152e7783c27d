import BeaconDelivery
import BeaconGateway
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The routes of the guided start that search for receivers.
struct SearchRoutes: Sendable {
    let current: CurrentConfiguration
    /// True when beacond is ending.
    let isEnding: Locked<Bool>

    /// The most searches at once. Each makes a connection.
    private static let most = 8
    /// The longest search in seconds.
    private static let longest = 3_600

    private let searches = Locked(0)

    init(current: CurrentConfiguration, isEnding: Locked<Bool>) {
        (self.current, self.isEnding) = (current, isEnding)
    }

    private struct ScanRequest: Decodable, Sendable {
        var broker: GuidedStart.Choice.Broker
        var gateways: [String]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.post, "setup/listen") { request, _ in
            let setup = try current.setup()
            let seconds = try request.number("seconds", 1...Self.longest) ?? Self.longest
            let source = try source(try await request.value(of: GuidedStart.SourceChoice.self), setup)
            guard searches.withLock({ $0 < Self.most }) else {
                throw Problem(.tooManyRequests, "too many searches run; close another window")
            }
            return EventStreamResponse.response { [searches, isEnding] write in
                searches.withLock { $0 += 1 }
                defer { searches.withLock { $0 -= 1 } }
                let found = GuidedStart.search(source, for: .seconds(seconds)) { isEnding.withLock { $0 } }
                for await report in found {
                    let data = (try? JSONEncoder.sorted.encode(report)) ?? Data("{}".utf8)
                    try await write(EventStreamResponse.text("found", data: data))
                }
            }
        }
        router.on(.post, "setup/scan") { request, _ in
            let setup = try current.setup()
            let body = try await request.value(of: ScanRequest.self)
            guard (1...200).contains(body.gateways.count), body.gateways.allSatisfy(Self.isTopic) else {
                throw Problem(.unprocessableContent, key: "gateways", "must be 1 to 200 topics without wildcards")
            }
            let source = try source(.broker(body.broker, topics: [], names: [:]), setup)
            guard let broker = source.specification.network as? BrokerSource else { return Nothing() }
            if let reason = await GuidedStart.scanWithoutPauses(body.gateways, at: broker) {
                throw Problem(.unprocessableContent, key: "broker.host", reason)
            }
            return Nothing()
        }
    }

    /// Returns the settings of a source that can be searched.
    private func source(_ choice: GuidedStart.SourceChoice, _ setup: GuidedStart) throws -> SourceSettings {
        if case .text = choice {
            throw Problem(.unprocessableContent, key: "broker", "is missing; write \"broker\" or \"esphome\"")
        }
        var (settings, faults) = GuidedStart.Sources(choice).read(beside: setup.path)
        // The choice is the whole request here.
        for index in faults.indices { faults[index].key = String(faults[index].key.trimmingPrefix("source.")) }
        guard faults.isEmpty, let source = settings.popLast() else { throw Problem(faults) }
        return source
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && !text.contains { "+#\0".contains($0) }
    }
}

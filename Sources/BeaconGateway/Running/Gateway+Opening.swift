import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Logging

// The sources and receivers of a gateway, as they are made.

extension Gateway {
    func makeSources() {
        for settings in plannedSources(of: configuration, isReported: true) { addSource(settings) }
    }

    /// Returns the sources of a configuration at the speed that all of them have.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - isReported: true to log a speed that differs from the configured one.
    func plannedSources(of configuration: GatewayConfiguration, isReported: Bool) -> [SourceSettings] {
        // All sources share one time, and so one speed: a radio or a pipe gives adverts in real time.
        let comesByItself =
            fleet != nil
            || configuration.sources.count > 1
                && configuration.sources.contains { $0.specification.isGradual(at: .fastest) }
        let pace = comesByItself ? .times(1) : configuration.sources.map(\.pace).first { $0 != .fastest } ?? .fastest
        return configuration.sources.map { settings in
            var settings = settings
            if settings.pace != pace, !settings.specification.isGradual(at: .fastest) {
                settings.pace = pace
                let others = fleet == nil ? "other sources of this configuration" : "the sources of a fleet"
                let speed = pace == .times(1) ? "in real time" : "at the same speed"
                if isReported { logger.notice("\(settings.name) plays \(speed), as \(others) do") }
            }
            return settings
        }
    }

    /// Returns settings with places for the receivers that the configuration names.
    func reserving(_ settings: SourceSettings) -> SourceSettings {
        var settings = settings
        settings.specification = settings.specification.reserving(configuration.places?.receiverNames ?? [])
        return settings
    }

    /// Returns the thread of a source, which has not begun.
    func makeRunner(for settings: SourceSettings) -> any GatewayRunner {
        let receiverName = settings.receiver
        return makeRunner(settings, proxy?.feed(isLive: settings.specification.isRadio) { receiverName ?? $0 })
    }

    /// Adds a source, which has not begun.
    func addSource(_ settings: SourceSettings) {
        let (number, effective) = (sources.count, reserving(settings))
        let receiver = addReceiver(source: number, place: 0)
        sources.append(
            GatewaySource(effective, given: settings, runner: makeRunner(for: effective), first: receiver))
        if statistics.sources.count < sources.count { statistics.sources.append(.init(name: settings.name)) }
        if isPumping { unpumped.append(number) }
        openedLast = number
        setHearing(.interrupted, of: receiver)
    }

    func addReceiver(source: Int, place: Int) -> ReceiverID {
        receivers.append((source, place))
        records.append(ReceiverRecord())
        return ReceiverID(UInt16(clamping: receivers.count - 1))
    }
}

import BeaconDelivery
import BeaconGateway
import ServiceLifecycle

/// The line of live statistics on a terminal, drawn anew each second.
struct LiveStatistics: Service {
    let daemon: GatewayDaemon

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                ErrorOutput.shared.show(
                    StatisticsText.line(daemon.statistics, await daemon.queues(), width: ErrorOutput.width))
                try? await Task.sleep(for: .seconds(1))
            }
        }
        ErrorOutput.shared.show("")
    }
}

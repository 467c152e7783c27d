import ServiceLifecycle

/// Looks for applications to watch for until the daemon is to end, and then ends what was started.
struct LaunchRun: Service {
    let agent: LaunchAgent
    let gateway: Gateway

    func run() async {
        await cancelWhenGracefulShutdown { await agent.run(gateway) }
        // Where nothing has to be looked for, it still is there to be ended with the others.
        try? await gracefulShutdown()
        await agent.stop()
    }
}

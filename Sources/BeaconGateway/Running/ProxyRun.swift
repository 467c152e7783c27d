package import BeaconRelay
import BeaconSupport
import ServiceLifecycle

/// The service that forwards adverts to clients of the proxy. While there are clients, the radios report all adverts.
package struct ProxyRun: Service {
    let proxy: ProxyServer
    let gateway: Gateway

    package init(proxy: ProxyServer, gateway: Gateway) { (self.proxy, self.gateway) = (proxy, gateway) }

    package func run() async {
        proxy.start()
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let seen = proxy.wantedSignal.count
                await gateway.updateScanMode()
                await proxy.wantedSignal.wait(after: seen)
            }
        }
        await proxy.stop()
    }
}

package import BeaconGateway
import CLibrary
import NIOCore
import NIOPosix

extension WebSettings {
    /// Why an address cannot be listened on.
    package struct Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// The reason, as the system says it.
        package var description: String
        /// True where another port may do.
        package var isOfPort: Bool
    }

    /// Finds out whether the console's address can be listened on, by doing so for a moment.
    ///
    /// - Returns: why not; nil where it can.
    package func obstacle() async -> Obstacle? {
        do {
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close().get()
            return nil
        } catch let error as IOError {
            return Obstacle(
                description: String(cString: strerror(error.errnoCode)), isOfPort: error.errnoCode != EADDRNOTAVAIL)
        } catch is SocketAddressError.UnknownHost {
            return Obstacle(description: "there is no host \(host)", isOfPort: false)
        } catch {
            return Obstacle(description: "\(error)", isOfPort: true)
        }
    }
}

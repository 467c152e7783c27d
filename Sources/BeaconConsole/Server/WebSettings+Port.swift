package import BeaconGateway
import CLibrary
import NIOCore
import NIOPosix

extension WebSettings {
    /// The reason why an address cannot be listened on.
    package struct Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// The reason in the system's words.
        package var description: String
        /// True if another port may work.
        package var isOfPort: Bool
    }

    /// Checks whether the console's address can be listened on, by listening for a short time.
    ///
    /// - Returns: The reason why not, or nil if it can.
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
            return Obstacle(description: "unknown host \(host)", isOfPort: false)
        } catch {
            return Obstacle(description: "\(error)", isOfPort: true)
        }
    }
}

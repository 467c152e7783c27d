import CLibrary
import NIOCore
import NIOPosix

extension WebSettings {
    /// Finds out whether the console's address can be listened on, by doing so for a moment.
    ///
    /// - Returns: why not, as the system says it; nil where it can.
    public func obstacle() async -> String? {
        do {
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close().get()
            return nil
        } catch let error as IOError {
            return String(cString: strerror(error.errnoCode))
        } catch {
            return "\(error)"
        }
    }
}

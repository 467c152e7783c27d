import BeaconGateway
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the files that are linked into the program.
struct ConsoleRoutes: Sendable {
    func add(to router: Router<WebContext>) {
        for file in ConsoleFiles.all {
            router.get(RouterPath(file.name == "index.html" ? "" : file.name)) { request, _ in
                // Files change only with beacond itself. Browsers revalidate, and load nothing twice.
                let headers: HTTPFields = [
                    .contentType: file.type, .cacheControl: "no-cache", .eTag: file.tag,
                ]
                if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
                return Response(
                    status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: file.content)))
            }
        }
    }
}

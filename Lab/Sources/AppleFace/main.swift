// AppleFace till|customer: one end of a beacon on Apple's names; BEACON_SOURCE says on which adapter. It ends by TERM.
import CoreLocation
@preconcurrency import Foundation
import Glibc

guard let chain = UUID(uuidString: "695C9AD9-34C5-451E-9147-F3D2C4F3F04C"), CommandLine.arguments.count == 2 else {
    Output.line("usage: AppleFace till|customer")
    exit(2)
}

let till: Till?
let customer: Customer?
if CommandLine.arguments[1] == "till" {
    till = Till(CLBeaconRegion(uuid: chain, major: 258, minor: 772, identifier: "till"))
    customer = nil
} else {
    till = nil
    customer = Customer(CLBeaconRegion(uuid: chain, identifier: "chain"))
}

let end = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
end.setEventHandler {
    till?.close()
    exit(0)
}
end.resume()

RunLoop.main.run()

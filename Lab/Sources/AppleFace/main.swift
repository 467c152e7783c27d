// AppleFace till|customer|sensor|finder: one end of a beacon, or of a device, with Apple's API. BEACON_SOURCE sets the
// adapter. TERM ends it.
import CoreLocation
@preconcurrency import Foundation
import Glibc

guard let chain = UUID(uuidString: "695C9AD9-34C5-451E-9147-F3D2C4F3F04C"), CommandLine.arguments.count == 2 else {
    Output.line("usage: AppleFace till|customer|sensor|finder")
    exit(2)
}

let role = CommandLine.arguments[1]
let till = role == "till" ? Till(CLBeaconRegion(uuid: chain, major: 258, minor: 772, identifier: "till")) : nil
let customer = role == "customer" ? Customer(CLBeaconRegion(uuid: chain, identifier: "chain")) : nil
let sensor = role == "sensor" ? Sensor() : nil
let finder = role == "finder" ? Finder() : nil

let end = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
end.setEventHandler {
    till?.close()
    sensor?.close()
    finder?.close()
    exit(0)
}
end.resume()

RunLoop.main.run()

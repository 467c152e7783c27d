// On iOS an app delegate holds the notifier, and the system runs the loop. The keys are the app's keys at Kumulos, or
// at a beacond (Settings, Apps in its console):
//
//   ProximityRecipe [ORGANISATION] [ADDRESS]     with APP_KEY, APP_SECRET and APP_USER in the environment
@preconcurrency import Foundation
import KumulosSDK

// Write each line at once, even to a pipe.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

let arguments = CommandLine.arguments.dropFirst()
let environment = ProcessInfo.processInfo.environment
let builder = KSConfigBuilder(
    apiKey: environment["APP_KEY"] ?? "example", secretKey: environment["APP_SECRET"] ?? "example")
if let address = arguments.dropFirst().first {
    // Kumulos' own SDK ends the app unless each service has an address.
    var addresses = Dictionary(uniqueKeysWithValues: Service.allCases.map { ($0, address) })
    addresses[.iar] = "\(address)/in-app.html"
    builder.setBaseUrlMapping(baseUrlMap: addresses)
    builder.setPushOpenedHandler { notification in
        let alert = (notification.aps["alert"] as? [String: Any]) ?? [:]
        print("\(alert["title"] ?? "message"): \(alert["body"] ?? "")")
    }
} else {
    builder.setEventSink(EventPrinter())
}
Kumulos.initialize(config: builder.build())
if let user = environment["APP_USER"] { Kumulos.associateUserWithInstall(userIdentifier: user) }

// By default, the organisation of the simulated museum.
let organisation = arguments.first ?? "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
guard let uuid = UUID(uuidString: organisation) else {
    print("'\(organisation)' is not a UUID; write it as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0.")
    exit(64)
}
let notifier = BeaconNotifier(organisation: uuid)
RunLoop.main.run()

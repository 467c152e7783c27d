// On iOS an app delegate holds the notifier, and the system runs the loop. The keys are those of the app at Kumulos.
@preconcurrency import Foundation
import KumulosSDK

// Each line at once, where the output is a pipe too.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

let builder = KSConfigBuilder(apiKey: "example", secretKey: "example")
builder.setEventSink(EventPrinter())
Kumulos.initialize(config: builder.build())

// The organisation of the simulated museum, unless told otherwise.
let organisation = CommandLine.arguments.dropFirst().first ?? "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
guard let uuid = UUID(uuidString: organisation) else {
    print("'\(organisation)' is not a UUID; write it as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0.")
    exit(64)
}
let notifier = BeaconNotifier(organisation: uuid)
RunLoop.main.run()

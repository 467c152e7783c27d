// On iOS a view controller holds the till while it is on the screen, and the system runs the loop.
@preconcurrency import Foundation

// Write each line at once, even to a pipe.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

let till = TillBeacon(shop: 1, till: 1)

let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interruption.setEventHandler {
    till.close()
    exit(0)
}
interruption.resume()

RunLoop.main.run()

@preconcurrency import Foundation

// Write each line at once, even to a pipe.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

// The scan ends when its manager is deallocated.
let scanner = BeaconScanner()
RunLoop.main.run()

@preconcurrency import Foundation

// Each line at once, where the output is a pipe too.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

// Anyone who lets go of a manager ends its scan.
let scanner = BeaconScanner()
RunLoop.main.run()

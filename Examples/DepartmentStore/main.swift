// On iOS an app delegate holds the assistant, and the system runs the loop.
@preconcurrency import Foundation

// Write each line at once, even to a pipe.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

let assistant = ShoppingAssistant()
RunLoop.main.run()

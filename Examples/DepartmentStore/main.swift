// On iOS an app delegate holds the assistant, and the system runs the loop.
@preconcurrency import Foundation

// Each line at once, where the output is a pipe too.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

let assistant = ShoppingAssistant()
RunLoop.main.run()

// The SDK's own module brings Foundation along, and code that was written for it relies on that.
@_exported public import Foundation

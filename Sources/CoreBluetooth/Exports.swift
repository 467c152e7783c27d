// Core Bluetooth's header brings Foundation with it, and much code never imports it itself. Foundation brings Dispatch.
@_exported public import Foundation

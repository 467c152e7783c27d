/// The object through which an app learns whether Bluetooth is on.
open class CBCentralManager: CBManager {
}

/// The object through which an app advertises.
open class CBPeripheralManager: CBManager {
}

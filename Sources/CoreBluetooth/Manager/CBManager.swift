/// What the managers have in common.
open class CBManager: NSObject {
}

/// What services, characteristics and descriptors have in common.
open class CBAttribute: NSObject {
    /// What it is.
    open var uuid: CBUUID { type }

    private let type: CBUUID

    /// An attribute of this type.
    init(uuid: CBUUID) {
        type = uuid
        super.init()
    }
}

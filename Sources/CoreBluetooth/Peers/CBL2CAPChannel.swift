/// A channel to another device. None is ever opened here.
open class CBL2CAPChannel: NSObject {
    /// The device on the other side.
    open var peer: CBPeer? { nil }

    /// What comes in.
    open var inputStream: InputStream? { nil }

    /// What goes out.
    open var outputStream: OutputStream? { nil }

    /// The channel's number.
    open var psm: CBL2CAPPSM { 0 }

    override init() {
        super.init()
    }
}

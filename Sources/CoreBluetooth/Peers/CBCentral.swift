/// A device that reads from this one. None is ever met here.
open class CBCentral: CBPeer {
    /// How many bytes one notification takes: 20, what the smallest packet leaves.
    open var maximumUpdateValueLength: Int { 20 }
}

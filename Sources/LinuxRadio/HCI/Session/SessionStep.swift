import BeaconRadio

/// What a controller session wants done. The steps are done in their order.
enum SessionStep {
    /// Send this command.
    case send(HCICommand)
    /// See to it that these commands are sent even if this process dies.
    case protect([HCICommand])
    /// Switch the adapter, and tell the session how that went.
    case power(PowerChange)
    /// Tell this.
    case tell(RadioEvent)
}

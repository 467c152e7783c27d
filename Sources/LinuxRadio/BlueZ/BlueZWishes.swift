import BeaconModel
import BeaconRadio

/// What the driver was asked for, which outlives connections, daemons and adapters.
final class BlueZWishes {
    /// How hard to listen.
    var mode = ScanMode.off

    /// What to send.
    var frames: [IBeaconFrame] = []

    /// Whether an adapter that is off is switched on. What somebody switches off while it is used stays off.
    var mayPowerOn = true
}

/// How patient a controller session is.
struct SessionConfiguration {
    /// How long nothing is heard until the scan is begun anew, in nanoseconds. 90 s is what the Bluetooth integration of Home
    /// Assistant waits for, which has met most adapters there are (habluetooth, const.py: SCANNER_WATCHDOG_TIMEOUT).
    var silence: Int64 = 90_000_000_000

    /// How often the controller's count of events is looked at while a filter keeps adverts from us, in nanoseconds.
    var countInterval: Int64 = 10_000_000_000

    /// How long to wait for the answer to a command, in nanoseconds. The kernel itself gives up after 2 s and sends the next
    /// one (hci.h: HCI_CMD_TIMEOUT), so that after 3 s the way is free again.
    var answerTime: Int64 = 3_000_000_000

    /// How long after a command of other software it is let alone, in nanoseconds. The kernel sends what belongs together
    /// within some tens of milliseconds, and a command of ours in between would have its next one refused.
    var courtesy: Int64 = 300_000_000

    /// How long each of several beacons is sent where they share an advertising slot, in nanoseconds: three times at 100 ms.
    var turn: Int64 = 300_000_000

    /// How long after a refusal, or after the adapter was switched to no avail, the next attempt is made, in nanoseconds; each
    /// further one waits twice as long, up to ``longestDelay``.
    var firstDelay: Int64 = 1_000_000_000

    /// The longest time between two attempts, in nanoseconds.
    var longestDelay: Int64 = 300_000_000_000

    /// How often a switch that keeps the radio off is looked at, in nanoseconds.
    var blockInterval: Int64 = 10_000_000_000
}

/// Names that BlueZ has on the bus (doc/ in its sources).
enum BlueZ {
    /// The daemon.
    static let service = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let monitor = "org.bluez.AdvertisementMonitor1"
    static let monitorManager = "org.bluez.AdvertisementMonitorManager1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    /// What makes bluetoothd offer monitors.
    static let experimentalRemedy =
        "Let bluetoothd run with --experimental: put into /etc/systemd/system/bluetooth.service.d/experimental.conf the "
        + "lines \"[Service]\", \"ExecStart=\" and \"ExecStart=/usr/libexec/bluetooth/bluetoothd --experimental\" (the "
        + "path as systemctl cat bluetooth shows it), then systemctl daemon-reload and systemctl restart bluetooth. Or "
        + "use a raw HCI socket (hci:hci0)."

    /// What lets a user talk to bluetoothd where the bus's policy does not.
    static let accessRemedy =
        "Add the user to the group bluetooth (usermod -aG bluetooth USER, then log in anew), or allow it in "
        + "/etc/dbus-1/system.d/bluetooth.conf."
}

import CBluetooth
import Glibc

/// Whether the kernel has Bluetooth at all.
struct KernelCheck {
    let files: SystemFiles

    func findings() -> [Finding] {
        let release = files.text("/proc/sys/kernel/osrelease") ?? "of unknown release"
        switch beacon_bluetooth_support() {
        case 0: return [Finding("kernel", .ok, "Linux \(release) with Bluetooth.")]
        case EAFNOSUPPORT:
            return [
                Finding(
                    "kernel", .problem, "Linux \(release) has no Bluetooth, or its module is not loaded.",
                    remedy: "sudo modprobe bluetooth btusb")
            ]
        case let number:
            return [
                Finding(
                    "kernel", .problem,
                    "Linux \(release) lets this process open no Bluetooth socket: \(String(cString: strerror(number))). "
                        + "In a container, share the host's network (--network host).")
            ]
        }
    }
}

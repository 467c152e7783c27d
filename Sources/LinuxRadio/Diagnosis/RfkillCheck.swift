/// Whether Bluetooth is blocked by a switch on the machine or by somebody's command (rfkill(8)).
struct RfkillCheck {
    let files: SystemFiles

    func findings() -> [Finding] {
        let switches = files.names(in: "/sys/class/rfkill").filter {
            files.text("/sys/class/rfkill/\($0)/type") == "bluetooth"
        }
        return switches.map { name in
            let path = "/sys/class/rfkill/\(name)"
            let adapter = files.text("\(path)/name") ?? name
            if files.text("\(path)/hard") == "1" {
                return Finding("rfkill", .problem, "\(adapter) is blocked by a switch or key on the machine; use that.")
            }
            if files.text("\(path)/soft") == "1" {
                return Finding("rfkill", .problem, "\(adapter) is blocked.", remedy: "sudo rfkill unblock bluetooth")
            }
            return Finding("rfkill", .ok, "\(adapter) is not blocked.")
        }
    }
}

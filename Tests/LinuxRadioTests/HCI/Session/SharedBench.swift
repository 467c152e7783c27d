import BeaconModel
import BeaconRadio

@testable import LinuxRadio

/// Several processes that share a controller as the kernel allows: each sees the others' commands, and all answers.
struct SharedBench {
    private(set) var controller = VirtualController()
    private var sessions: [ControllerSession?]
    private var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    init(count: Int) {
        sessions = (0..<count).map { ControllerSession(name: "hci\($0)") }
        for index in sessions.indices { sessions[index]?.begin(isOn: true, at: now) }
        settle()
    }

    mutating func scan(_ index: Int, _ mode: ScanMode) {
        sessions[index]?.scan(ScanParameters(mode), at: now)
        settle()
    }

    /// Ends one of them.
    mutating func end(_ index: Int) {
        let undo = sessions[index]?.undo ?? []
        sessions[index] = nil
        for command in undo { send(command, by: index) }
        settle()
    }

    mutating func wait(_ seconds: Double) {
        let end = now.advanced(by: Int64(seconds * 1e9))
        while now < end {
            now = sessions.compactMap { $0?.deadline }.reduce(end, min)
            for index in sessions.indices { sessions[index]?.advance(to: now) }
            settle()
        }
    }

    private mutating func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for index in sessions.indices {
                for case .send(let command) in sessions[index]?.drainSteps() ?? [] {
                    isQuiet = false
                    send(command, by: index)
                }
            }
        }
    }

    private mutating func send(_ command: HCICommand, by sender: Int) {
        for index in sessions.indices where index != sender {
            sessions[index]?.receive(othersCommand: command, at: now)
        }
        guard let event = controller.receive(command) else { return }
        for index in sessions.indices { sessions[index]?.receive(event: event.span.bytes, at: now) }
    }
}

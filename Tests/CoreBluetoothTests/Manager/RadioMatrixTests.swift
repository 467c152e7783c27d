import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreBluetooth
import Testing

@Suite("A peripheral manager in each sequence of radio states")
struct RadioMatrixTests {
    /// The rules of advertising in their simplest form.
    private struct Oracle {
        private enum Phase { case idle, held, sending }

        private var radio = RadioState.unknown
        private var phase = Phase.idle
        private(set) var words: [String] = []
        private(set) var misuses = 0

        var isAdvertising: Bool { phase == .sending && radio == .poweredOn }
        var isOnTheAir: Bool { phase == .sending }

        mutating func set(_ state: RadioState) {
            guard state != radio else { return }
            radio = state
            words.append("state \(state)")
            switch state {
            case .unsupported, .unauthorized, .poweredOff:
                if phase == .held { misuses += 1 }
                phase = .idle
            case .poweredOn:
                if phase == .held {
                    phase = .sending
                    words.append("started")
                }
            case .unknown, .resetting: break
            }
        }

        mutating func start() {
            switch (radio, phase) {
            case (.unknown, .sending), (.poweredOn, .sending): words.append("refused")
            case (.unknown, _): phase = .held
            case (.poweredOn, _):
                phase = .sending
                words.append("started")
            default: misuses += 1
            }
        }
    }

    /// A delegate that records its calls as text.
    private final class Notes: NSObject, CBPeripheralManagerDelegate, Sendable {
        private let words = Locked<[String]>([])

        var all: [String] { words.withLock { $0 } }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            // Both have Apple's numbers.
            let state = RadioState(rawValue: UInt8(peripheral.state.rawValue))
            words.withLock { $0.append("state \(state.map { "\($0)" } ?? "?")") }
        }

        func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
            words.withLock { $0.append(error == nil ? "started" : "refused") }
        }
    }

    @Test(
        "Each start has one answer, at any time, and an outage ends or pauses it (P2, P3, P4, P6, P7)",
        arguments: RadioState.allCases)
    func matrix(first: RadioState) async throws {
        let sequences =
            [[first]] + RadioState.allCases.map { [first, $0] }
            + RadioState.allCases.flatMap { second in RadioState.allCases.map { [first, second, $0] } }
        for states in sequences {
            for starts in (0...states.count).map({ [$0] }) + [Array(0...states.count)] {
                let bench = await ManagerBench()
                let notes = Notes()
                let manager = bench.makeManager(notes)
                await bench.settle()
                var oracle = Oracle()
                var time: Int64 = 1000
                for step in 0...(states.count + 1) {
                    if step > 0 {
                        let state = step <= states.count ? states[step - 1] : .poweredOn
                        await bench.deliver(.state(state))
                        oracle.set(state)
                        // The radio answers for each frame that it sends, even when it sends it again.
                        for _ in 0..<2 where state == .poweredOn {
                            for frame in bench.radio.frames { await bench.deliver(.advertising(frame, .success(()))) }
                        }
                        time += [1, 7, 40][step % 3]
                        await bench.deliver(.heard(SourceBatch(upTo: Timestamp(nanoseconds: time * 1_000_000_000))))
                    }
                    if starts.contains(step) {
                        manager.startAdvertising(ManagerBench.beacon())
                        oracle.start()
                        await bench.settle()
                        if bench.center.snapshot.radio == .poweredOn {
                            for frame in bench.radio.frames { await bench.deliver(.advertising(frame, .success(()))) }
                        }
                    }
                    #expect(manager.isAdvertising == oracle.isAdvertising, "\(states), started at \(starts)")
                    #expect(bench.radio.frames.isEmpty == !oracle.isOnTheAir, "\(states), started at \(starts)")
                }
                if notes.all != oracle.words {
                    Issue.record("\(states), started at \(starts):\nmanager \(notes.all)\noracle  \(oracle.words)")
                    return
                }
            }
        }
    }
}

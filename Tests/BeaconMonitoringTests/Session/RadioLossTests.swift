import BeaconModel
import BeaconRadio
import Testing

@Suite("A session whose radio disappears and returns")
struct RadioLossTests {
    @Test(
        "While the radio is lost nothing exits; after its return, absent beacons exit after their time-out (O1, O5)",
        arguments: [RadioState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff])
    func loss(state: RadioState) throws {
        var bench = SessionBench()
        bench.machine.beacon = SessionBench.frame
        #expect(try bench.steps(3) == ["enter inside 1.0"])
        bench.machine.state = state
        bench.machine.beacon = nil
        let published = state == .unknown || state == .resetting ? "state unknown 9.0" : "state unknown 4.0"
        #expect(try bench.steps(1000) == [published])
        bench.machine.state = .poweredOn
        #expect(try bench.steps(100) == ["exit outside 1034.0"])
    }

    @Test("A beacon that is still there when the radio returns does not enter again (O5)")
    func stillThere() throws {
        var bench = SessionBench()
        bench.machine.beacon = SessionBench.frame
        #expect(try bench.steps(3) == ["enter inside 1.0"])
        bench.machine.state = .unsupported
        #expect(try bench.steps(100) == ["state unknown 4.0"])
        bench.machine.state = .poweredOn
        #expect(try bench.steps(100) == ["state inside 104.0"])
    }

    @Test("A reset of a few seconds goes unnoticed, and a beacon that leaves then has the rest of its time (O3)")
    func reset() throws {
        var bench = SessionBench()
        bench.machine.beacon = SessionBench.frame
        #expect(try bench.steps(3) == ["enter inside 1.0"])
        bench.machine.beacon = nil
        #expect(try bench.steps(10) == [])
        bench.machine.state = .resetting
        #expect(try bench.steps(4) == [])
        bench.machine.state = .poweredOn
        // The last advert at 3 s, ten seconds of silence that count, and 4 s that do not.
        #expect(try bench.steps(100) == ["exit outside 37.0"])
    }

    @Test("A night of sleep causes no exit, and no reports for the hours of sleep (O3)")
    func sleep() throws {
        var bench = SessionBench(isRanging: true)
        bench.machine.beacon = SessionBench.frame
        #expect(try bench.steps(3) == ["enter inside 1.0", "ranged 1.0", "ranged 2.0"])
        bench.machine.sleep(8 * 3600)
        let morning = try bench.step()
        #expect(bench.seconds == 28_804)
        #expect(morning.filter { $0.hasPrefix("exit") || $0.hasPrefix("state") } == [])
        #expect(morning.count <= 2)
        #expect(try bench.steps(100).allSatisfy { $0.hasPrefix("ranged") })
        // A night in which the beacon is removed: its region is exited after 30 s of hearing.
        bench.machine.sleep(8 * 3600)
        bench.machine.beacon = nil
        let left = try bench.steps(60).filter { !$0.hasPrefix("ranged") }
        // Last read at 28 904 s, deaf until 57 705 s.
        #expect(left == ["exit outside 57735.0"])
    }

    @Test("A process that was stopped for an hour causes no exit (O3)")
    func stopped() throws {
        var bench = SessionBench()
        bench.machine.beacon = SessionBench.frame
        #expect(try bench.steps(3) == ["enter inside 1.0"])
        bench.machine.stop(3600)
        #expect(try bench.steps(10) == [])
    }
}

@Suite("A session in each sequence of radio states")
struct SessionMatrixTests {
    @Test(
        "Deafness causes no exit, lasting deafness is published, and known states are compared (O1, O4, O5)",
        arguments: RadioState.allCases, [1, 7, 40])
    func matrix(first: RadioState, seconds: Int) throws {
        for states in sequencesOfStates where states.first == first {
            for (isPresent, hasWorked) in [(true, true), (false, true), (true, false), (false, false)] {
                let (words, expected) = try run(states, seconds, isPresent: isPresent, hasWorked: hasWorked)
                if words != expected {
                    Issue.record(
                        """
                        \(states) of \(seconds) s, beacon \(isPresent), after work \(hasWorked):
                        session \(words)
                        oracle \(expected)
                        """)
                    return
                }
            }
        }
    }

    /// Runs a session and the oracle side by side, in steps of a second.
    private func run(
        _ states: [RadioState], _ seconds: Int, isPresent: Bool, hasWorked: Bool
    ) throws -> (words: [String], expected: [String]) {
        var bench = SessionBench()
        var words: [String] = []
        var expected: [String] = []
        var radio = OracleRadio()
        var region = OracleRegion(entersFromUnknown: true)
        var now = 0.0

        func note(_ change: OracleRegion.Change?) {
            switch change {
            case .state(let state): expected.append("state \(state) \(now)")
            case .enter: expected.append("enter inside \(now)")
            case .exit: expected.append("exit outside \(now)")
            case nil: break
            }
        }

        func pass(_ count: Int, in state: RadioState, isPresent: Bool) throws {
            bench.machine.state = state
            bench.machine.beacon = isPresent ? SessionBench.frame : nil
            for step in 0..<count {
                words += try bench.step()
                let isFirst = now == 0
                now += 1
                let isSilent = !(isPresent && state == .poweredOn)
                // The events since the last step, in the previous state.
                if radio.isHearing, !isFirst {
                    if isSilent { note(region.listen(1)) }
                } else if !isFirst {
                    radio.pass(1)
                    if radio.isLasting, state != .poweredOn { note(region.lose()) }
                }
                if step == 0, radio.state != state || isFirst {
                    let wasHearing = radio.isHearing
                    radio.set(state)
                    if radio.isHearing, !wasHearing { region.resume() }
                    if radio.isLasting { note(region.lose()) }
                }
                if !isSilent { note(region.hear()) }
            }
        }

        if hasWorked { try pass(3, in: .poweredOn, isPresent: true) }
        for state in states { try pass(seconds, in: state, isPresent: isPresent) }
        try pass(45, in: .poweredOn, isPresent: isPresent)
        try pass(5, in: .poweredOn, isPresent: true)
        return (words, expected)
    }

    @Test("A region that was inside waits for the receiver that kept it, however long it is absent")
    func restart() throws {
        // There is only another receiver.
        var absent = SessionBench(assuming: .inside, heldBy: "other")
        #expect(try absent.steps(1000) == [])
        absent.machine.beacon = SessionBench.frame
        #expect(try absent.steps(3) == [])
        // Now this receiver keeps it.
        absent.machine.beacon = nil
        #expect(try absent.steps(100) == ["exit outside 1033.0"])
        // Ranging continues regardless.
        var ranging = SessionBench(isRanging: true, assuming: .inside, heldBy: "other")
        #expect(try ranging.steps(100).allSatisfy { $0.hasPrefix("ranged") })
        for holder in [nil, "hci0"] {
            var present = SessionBench(assuming: .inside, heldBy: holder)
            #expect(try present.steps(100) == ["exit outside 31.0"])
        }
    }
}

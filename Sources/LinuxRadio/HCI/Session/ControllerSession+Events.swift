import BeaconModel
import BeaconRadio
import BeaconSupport

extension ControllerSession {
    /// Notes that adverts were received.
    mutating func heard(at now: Timestamp) {
        let silence = watchdog.revivedSilence(at: now, within: configuration.revival)
        watchdog.heard(at: now)
        noteHearing(at: now, revivedAfter: silence)
    }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) { watchdog.heardAdvert(at: now) }

    /// Notes the number of events that the controller has sent since it was attached.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        let lastSign = watchdog.lastSign
        let silence = watchdog.revivedSilence(at: now, within: configuration.countInterval + configuration.revival)
        watchdog.counted(count, at: now)
        guard watchdog.lastSign > lastSign else { return }
        noteHearing(at: now, revivedAfter: silence)
    }

    /// Ends the retries after a failure, and a deafness.
    ///
    /// - Parameter silence: the length of the silence if a restart revived a dead scan, in nanoseconds; nil otherwise.
    private mutating func noteHearing(at now: Timestamp, revivedAfter silence: Int64?) {
        if let silence, now >= nextRevivalNotice {
            nextRevivalNotice = now.advanced(by: configuration.revivalPause)
            report(.scanRestarted, RadioNotice.revival(after: silence))
        }
        backoff.reset()
        guard isDeaf else { return }
        endDeafness()
        report(.adapterUsed, "the adapter hears again.")
        // The adapter still scans while it waits to be switched, which is no longer necessary.
        if phase == .idle, powerRetry?.change == .cycle { ask(at: now) }
    }

    /// Ends a deafness: silence means absence again.
    mutating func endDeafness() {
        guard isDeaf else { return }
        isDeaf = false
        resets = 0
        if phase == .working { state = .poweredOn }
    }

    /// Handles a command that other software sent to this adapter.
    mutating func receive(othersCommand command: HCICommand, at now: Timestamp) {
        // The kernel's commands while it switches an adapter on do not concern us.
        guard phase == .working else { return }
        flow.observe(command, at: now)
    }

    /// Handles an event without adverts: code, length, parameters.
    mutating func receive(event: RawSpan, at now: Timestamp) {
        watchdog.answered()
        guard event.byteCount >= 2 else { return }
        switch event[0] {
        case HCIEventCode.commandComplete where event.byteCount >= 5:
            // Number of commands that may be sent, opcode, return parameters.
            let opcode = HCIOpcode(rawValue: UInt16(event[3]) | UInt16(event[4]) << 8)
            let status = event.byteCount > 5 ? HCIStatus(rawValue: event[5]) : .success
            completed(opcode, status, returned: event.extracting(min(6, event.byteCount)..<event.byteCount), at: now)
        case HCIEventCode.commandStatus where event.byteCount >= 6:
            // Status, number of commands that may be sent, opcode.
            let opcode = HCIOpcode(rawValue: UInt16(event[4]) | UInt16(event[5]) << 8)
            completed(opcode, HCIStatus(rawValue: event[2]), returned: event.extracting(0..<0), at: now)
        case HCIEventCode.hardwareError where phase == .working || phase == .asking:
            report(.commandFailed, "the controller reports a hardware error; the adapter is switched off and on.")
            retryPower(.cycle, at: now)
        default: break
        }
    }

    mutating func completed(_ opcode: HCIOpcode, _ status: HCIStatus, returned: RawSpan, at now: Timestamp) {
        switch flow.answered(opcode, at: now) {
        case .ours(let command)?: finished(command, status, returned: returned, at: now)
        case .others(let command)? where status == .success: observe(command, at: now)
        default: break
        }
        proceed(at: now)
    }

    mutating func observe(_ command: HCICommand, at now: Timestamp) {
        guard phase == .working else { return }
        let changedScan = scan.observe(command)
        let changedAdvertising = advertising.observe(command)
        guard changedScan || changedAdvertising else { return }
        // Interference by other software is reported once a minute at most.
        guard now.since(lastInterference) >= 60 * Timestamp.nanosecondsPerSecond else { return }
        lastInterference = now
        if changedScan { report(.scanRestarted, "other software changed the scan; it is restarted.") }
        if changedAdvertising { report(.degraded, "other software ended the advertising; it is restarted.") }
    }

    mutating func finished(_ command: HCICommand, _ status: HCIStatus, returned: RawSpan, at now: Timestamp) {
        if command == inherited.first {
            inherited.removeFirst()
        } else if command == discovery.next {
            discovery.answered(status, returned: returned)
            if discovery.next == nil { discovered(at: now) }
        } else if command.opcode.isScanning || command.opcode.isEventMask || scan.isOwnAddress(command) {
            if status == .success {
                scan.succeeded(command)
                if command.opcode.isScanning, command.isEnabling { watchdog.began(at: now) }
                if scan.isSettled { hasFailed = false }
            } else if scan.refused(command, status) {
                scanFailed(command, status, at: now)
            }
        } else if status == .success {
            if command.opcode == .setRandomAddress { scan.noteRandomAddress() }
            advertisingSucceeded(command, at: now)
        } else if advertising.refused(command, status) {
            advertisingFailed(command, status, at: now)
        }
    }

    mutating func scanFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        report(.commandFailed, "the controller refused \(command.opcode): \(status). It is tried again.")
        // A controller that was set up by commands of one kind refuses the other kind until it is reset.
        if features.scansExtended, status == .disallowed || status == .unknownCommand { scan.isExtended.toggle() }
        guard !hasFailed else { return retryPower(.cycle, at: now) }
        hasFailed = true
        scanRetry = now.advanced(by: configuration.firstDelay)
    }
}

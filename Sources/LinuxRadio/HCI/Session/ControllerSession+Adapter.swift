import BeaconModel
import BeaconRadio
import BeaconSupport

extension ControllerSession {
    /// Begins the session of an adapter; switches the adapter on if it is off.
    mutating func begin(isOn: Bool, at now: Timestamp) {
        guard phase != .switching else { return }
        isOn ? ask(at: now) : power(.on)
    }

    /// Handles that other software switched the adapter on.
    mutating func cameOn(at now: Timestamp) {
        guard phase == .idle || phase == .useless else { return }
        ask(at: now)
    }

    /// Handles that the adapter was switched off, by a switch that blocks its radio or by other software.
    mutating func wentOff(isBlocked: Bool, at now: Timestamp) {
        guard phase != .switching, phase != .idle || powerRetry?.change == .cycle else { return }
        endDeafness()
        stop(.poweredOff)
        if isBlocked {
            reportBlock(at: now)
        } else {
            report(.adapterLost, "other software switched the adapter off. Switch it on: bluetoothctl power on")
        }
    }

    /// Handles the removal of the adapter.
    mutating func adapterRemoved() {
        endDeafness()
        mayNotSwitch = false
        guard phase != .idle || state != .poweredOff else { return }
        stop(.poweredOff)
        report(.adapterLost, "the adapter was removed. It is used again once it returns.")
    }

    /// Handles the outcome of a requested change of power.
    mutating func powered(_ failure: HCISystemError?, change: PowerChange, at now: Timestamp) {
        guard phase == .switching else { return }
        phase = .idle
        guard let failure else {
            if change == .cycle { report(.adapterReset, "the adapter was switched off and on again.") }
            return ask(at: now)
        }
        if failure.isBlock {
            state = .poweredOff
            reportBlock(at: now)
        } else if failure.isRefusal, change == .cycle {
            // The adapter is on and can still be used.
            mayNotSwitch = true
            report(.commandFailed, "this process may not switch the adapter off and on. \(HCIPermission.remedy)")
            ask(at: now)
        } else if failure.isRefusal {
            state = .unauthorized
            refuseAdvertising()
            report(.adapterLost, "the adapter is off, and this process may not switch it on. \(HCIPermission.remedy)")
        } else if failure.isAbsence {
            adapterRemoved()
        } else {
            state = .resetting
            let delay = backoff.next().clampedNanoseconds
            report(
                .commandFailed,
                "cannot switch the adapter on: \(failure). The next attempt is in \(Self.seconds(delay)).")
            powerRetry = (.cycle, now.advanced(by: delay))
        }
    }

    mutating func reportBlock(at now: Timestamp) {
        if !isBlockReported {
            isBlockReported = true
            report(.adapterLost, "a switch blocks the adapter's radio. Unblock it: rfkill unblock bluetooth")
        }
        powerRetry = (.on, now.advanced(by: configuration.blockInterval))
    }

    mutating func power(_ change: PowerChange) {
        stop(change == .cycle ? .resetting : state)
        phase = .switching
        steps.append(.power(change))
    }

    mutating func stop(_ state: RadioState) {
        phase = .idle
        self.state = state
        flow.forget()
        powerRetry = nil
        scan.forget()
        advertising.forget()
    }

    mutating func ask(at now: Timestamp) {
        stop(state)
        phase = .asking
        isBlockReported = false
        scan.doubt()
        discovery = FeatureDiscovery()
        proceed(at: now)
    }

    mutating func discovered(at now: Timestamp) {
        guard features.hasLE else {
            phase = .useless
            state = .unsupported
            refuseAdvertising()
            report(.adapterLost, "the adapter has no Bluetooth LE. Use another one.")
            return
        }
        phase = .working
        // A deaf adapter counts as working only once it receives something.
        state = isDeaf ? .resetting : .poweredOn
        hasFailed = false
        scan.isExtended = features.scansExtended
        advertising.isExtended = features.advertisesExtended
        advertising.setCount = features.advertisingSets
        advertising.forget()
        watchdog.begin(at: now)
        report(
            .adapterUsed,
            features.scansExtended
                ? "the adapter is used with raw HCI and the extended scan of Bluetooth 5."
                : "the adapter is used with raw HCI and the scan of Bluetooth 4.")
    }

    /// Handles a wake-up of the machine. The controller may have slept too, so the watchdog, the wait for an answer and
    /// the scan restart. The receiver of the deafness adjusts the times of beacons and regions.
    mutating func wokeUp(at now: Timestamp) {
        watchdog.begin(at: now)
        flow.restartWait(at: now)
        guard phase == .working, scan.wanted != nil else { return }
        scan.restart()
        report(.scanRestarted, "the machine slept; the scan is restarted.")
        proceed(at: now)
    }

    mutating func retryPower(_ change: PowerChange, at now: Timestamp) {
        stop(.resetting)
        powerRetry = (change, now.advanced(by: backoff.next().clampedNanoseconds))
    }
}

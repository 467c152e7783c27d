import BeaconModel
import BeaconRadio
import BeaconSupport

/// The events of devices, and their effect on the receivers.
extension ESPHomeDriver {
    func note(
        _ event: ESPHomeClient.Event, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        switch event {
        case .met(let device): identify(device, node, at: now, &batch)
        case .wouldTake:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .degraded,
                "its version of ESPHome gives its adverts to the newest client only. A Home Assistant "
                    + "that uses it would lose them without notice, so this client did not subscribe. If no other "
                    + "program needs them, or gets them from here (beacon proxy; proxy: in beacond's file), "
                    + "add ?take to the source, or take: true in beacond's file",
                &batch)
        case .subscribed(let isScanning): noteScanner(isScanning, of: node, at: now, &batch)
        case .refused:
            node.wasRefused = true
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "it sends no adverts. It serves one program only, and another one, such as "
                    + "Home Assistant, may have subscribed. "
                    + "Trying again every five minutes", &batch)
        case .lost:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "another program took its adverts. Stop using the device there, and restart this program",
                &batch)
        case .alive:
            if let place = node.place, node.stoppedSince == nil { network.noteSign(of: place, at: now) }
        case .stalled(let since):
            if let place = node.place { network.reportDeafness(of: place, from: since, to: now, &batch) }
        }
    }

    /// Notes whether a device's scanner runs. It pauses briefly between two scans, which is normal.
    func noteScanner(_ isScanning: Bool, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        node.failures = 0
        node.wasRefused = false
        guard isScanning else {
            node.stoppedSince = node.stoppedSince ?? now
            return
        }
        if let since = node.stoppedSince, let place = node.place {
            network.reportDeafness(of: place, from: since, to: now, &batch)
        }
        node.stoppedSince = nil
        let message = "connected and listening"
        if node.reported != [message] { node.reported = [] }
        report(node, .adapterUsed, message, &batch)
        setState(.poweredOn, of: node, at: now, &batch)
    }

    /// Reports a scanner that has been stopped for longer than a pause between two scans.
    func reviewScanner(of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let since = node.stoppedSince, now.since(since) >= Self.restartTime else { return }
        setState(.resetting, of: node, at: now, &batch)
        report(node, .degraded, "its scanner does not run; restart it and check its log", &batch)
        node.stoppedSince = now
    }

    func identify(
        _ device: ESPHomeClient.Device, _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        let name = device.name.isEmpty ? node.target.host : device.name
        node.title = name.printable
        node.address = device.address
        node.isIdentified = true
        // Its adverts are this machine's own, or already arrive by another path.
        if node.isFound, device.project == ESPHomeDevice.networkProject {
            node.isOther = true
            report(
                node, .adapterUsed,
                "it forwards adverts of other receivers, so it is not used. "
                    + "To use it, name it: esphome:\(node.target.host.printable)",
                &batch)
            return pause(node, for: 3600, at: now)
        }
        // A device may be listed both by name and by address.
        let others = nodes.filter { $0 !== node && $0.socket >= 0 && $0.place != nil }
        if others.contains(where: { !$0.address.isEmpty && $0.address == node.address }) {
            report(
                node, .degraded, "it is listed twice; ignoring \(node.target.host.printable)", &batch)
            return pause(node, for: 60, at: now)
        }
        var place = network.meet(name, at: now)
        if let taken = place, others.contains(where: { $0.place == taken }) {
            // Another device already has this name.
            place = network.meet("\(name) \(device.address)", at: now)
        }
        guard let place else {
            report(
                node, .degraded,
                "it is not used: there are 200 receivers already, or its name is longer than 64 bytes", &batch)
            return pause(node, for: 60, at: now)
        }
        node.place = place
        if network.receivers[place].isHearing { setState(.unknown, of: node, at: now, &batch) }
    }

    func setState(_ state: RadioState, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        if let place = node.place { network.setState(state, of: place, at: now, into: &batch) }
    }
}

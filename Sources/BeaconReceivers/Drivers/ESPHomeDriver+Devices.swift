import BeaconModel
import BeaconRadio
import BeaconSupport

/// What devices say, and what it means for their receivers.
extension ESPHomeDriver {
    func note(
        _ event: ESPHomeClient.Event, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        switch event {
        case .met(let device): meet(device, node, at: now, &batch)
        case .wouldTake:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .degraded,
                "its version of ESPHome gives adverts to whoever asked last, and tells nobody: a Home Assistant that uses it "
                    + "would hear no more. It is not asked. Where no other program needs its adverts, or it gets them from here (beacon "
                    + "proxy; proxy: in beacond's file), write ?take behind the source, or take: true in beacond's file",
                &batch)
        case .subscribed(let isScanning): noteScanner(isScanning, of: node, at: now, &batch)
        case .refused:
            node.wasRefused = true
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "it sends no adverts; another program, Home Assistant for instance, may have them, and it gives them to one alone. It "
                    + "is asked again each five minutes", &batch)
        case .lost:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "another program took its adverts, and they are not taken back; end the use there, and start this again",
                &batch)
        case .alive:
            if let place = node.place, node.stoppedSince == nil { network.noteSign(of: place, at: now) }
        case .stalled(let since):
            if let place = node.place { network.reportDeafness(of: place, from: since, to: now, &batch) }
        }
    }

    /// Notes whether a device's scanner runs. It stops for moments between two scans, which is no news.
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
        let news = "connected, and hears"
        if node.reported != [news] { node.reported = [] }
        report(node, .adapterUsed, news, &batch)
        setState(.poweredOn, of: node, at: now, &batch)
    }

    /// Notes that a scanner has not run for longer than between two scans.
    func reviewScanner(of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let since = node.stoppedSince, now.since(since) >= Self.restartTime else { return }
        setState(.resetting, of: node, at: now, &batch)
        report(node, .degraded, "its scanner does not run; restart it, and look at its log", &batch)
        node.stoppedSince = now
    }

    func meet(
        _ device: ESPHomeClient.Device, _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        let name = device.name.isEmpty ? node.target.host : device.name
        node.title = name.printable
        node.address = device.address
        node.hasMet = true
        // What it heard would come back to it, or comes by another way already.
        if node.isFound, device.project == ESPHomeDevice.networkProject {
            node.isOther = true
            report(
                node, .adapterUsed,
                "it passes on what others hear, and is not used; where it is to be, name it, as in esphome:\(node.target.host.printable)",
                &batch)
            return rest(node, for: 3600, at: now)
        }
        // A device may be listed by its name and by its address.
        let others = nodes.filter { $0 !== node && $0.socket >= 0 && $0.place != nil }
        if others.contains(where: { !$0.address.isEmpty && $0.address == node.address }) {
            report(
                node, .degraded, "it is there twice, as \(node.target.host.printable) too, which is left out", &batch)
            return rest(node, for: 60, at: now)
        }
        var place = network.meet(name, at: now)
        if let taken = place, others.contains(where: { $0.place == taken }) {
            // Another device of this name.
            place = network.meet("\(name) \(device.address)", at: now)
        }
        guard let place else {
            report(node, .degraded, "there are 200 receivers already, or its name is longer than 64 bytes", &batch)
            return rest(node, for: 60, at: now)
        }
        node.place = place
        if network.receivers[place].isHearing { setState(.unknown, of: node, at: now, &batch) }
    }

    func setState(_ state: RadioState, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        if let place = node.place { network.setState(state, of: place, at: now, into: &batch) }
    }
}

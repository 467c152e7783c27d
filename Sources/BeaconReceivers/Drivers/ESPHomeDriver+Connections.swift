import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The connections to devices: their addresses, and the bytes in both directions.
extension ESPHomeDriver {
    func begin(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        // An announced address may be out of date. The system's resolver may have a newer one.
        if let literal = HostResolver.literal(node.target.host, port: node.target.port) {
            connect(node, to: literal, at: now, &batch)
        } else if let known = browser.address(of: node.target.host), node.isFound || node.failures % 2 == 0 {
            connect(node, to: HostResolver.address(known, port: node.target.port), at: now, &batch)
        } else if node.isFound {
            // Its address arrives with the next answer. Anyone can announce a name, so it is not looked up elsewhere.
            node.failures += 1
            node.phase = .waiting(until: now.advanced(by: 2 * Timestamp.nanosecondsPerSecond))
        } else {
            node.phase = .resolving(since: now)
            resolver.resolve(node.target.host, port: node.target.port)
        }
    }

    func connect(
        _ node: Node, to address: HostResolver.Address, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        let kind = SocketKind.nonBlocking(SocketKind.stream)
        node.socket = socket(address.family, kind, 0)
        guard node.socket >= 0 else {
            return fail(node, "cannot open a socket for it (\(String(cString: strerror(errno))))", at: now, &batch)
        }
        let result = address.bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                CLibrary.connect(node.socket, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard result == 0 || errno == EINPROGRESS else {
            return fail(node, "cannot connect: \(String(cString: strerror(errno)))", at: now, &batch)
        }
        node.phase = .connecting(since: now)
    }

    func finishConnecting(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        var error: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(node.socket, SOL_SOCKET, SO_ERROR, &error, &count)
        guard error == 0 else {
            return fail(
                node,
                "cannot connect to port \(node.target.port) (\(String(cString: strerror(error)))). "
                    + ["its address is wrong", "it has no api: in its configuration"].asPossibleCauses, at: now,
                &batch)
        }
        do throws(ESPHomeError) {
            let key = source.key.flatMap(ESPHomeSource.bytes(of:))
            // Another client that had the adverts, and restarts together with the device, gets to subscribe first.
            let notBefore = node.wasRefused ? now.advanced(by: ESPHomeClient.askAgain) : .zero
            node.client = try ESPHomeClient(
                key: key, mayTake: source.mayTake, isWanted: network.isListening, notBefore: notBefore, at: now)
            node.phase = .connected
            var one: Int32 = 1
            setsockopt(
                node.socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout.size(ofValue: one)))
            write(node, at: now, &batch)
        } catch {
            fail(node, error.message, at: now, &batch)
        }
    }

    func read(
        _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        // Limited, so that a device that floods does not keep the others from being read.
        for _ in 0..<16 {
            let count = recv(node.socket, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, &batch) }
            guard var client = node.client else { return }
            // Keep this the only copy, so that it is changed in place.
            node.client = nil
            defer { if node.socket >= 0 { node.client = client } }
            var events: [ESPHomeClient.Event] = []
            let bytes = Array(buffer[..<count])
            let error = client.receive(
                bytes.span.bytes, at: now,
                deliver: { address, rssi, advert in
                    guard let place = node.place else { return }
                    network.noteSign(of: place, at: now)
                    guard network.isListening else { return }
                    network.receiveAdvert(of: place, at: now, address: address, rssi: rssi, advert: advert, &batch)
                }, report: { events.append($0) })
            for event in events where node.socket >= 0 { note(event, of: node, at: now, &batch) }
            guard node.socket >= 0 else { return }
            if let error {
                // The device asked to disconnect. Send the response first.
                node.client = client
                write(node, at: now, &batch)
                guard node.socket >= 0 else { return }
                if error.code == .noProxy, node.isFound {
                    node.isOther = true
                    return pause(node, for: 3600, at: now)
                }
                return fail(node, error.message, error.code, at: now, &batch)
            }
            if count < buffer.count { return }
        }
    }

    func write(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        guard case .connected = node.phase else { return }
        node.unsent += node.client?.takeOutput() ?? []
        while !node.unsent.isEmpty {
            let count = CLibrary.send(node.socket, node.unsent, node.unsent.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            // A device that accepts no more data is lost long before 64 KiB are queued.
            if count < 0, errno == EAGAIN, node.unsent.count < 1 << 16 { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, &batch) }
            node.unsent.removeFirst(count)
        }
    }

    func fail(
        _ node: Node, _ reason: String, _ code: ESPHomeError.Code? = nil, at now: Timestamp,
        _ batch: inout AdvertBatch
    ) {
        closeSocket(of: node)
        setState(.resetting, of: node, at: now, &batch)
        node.place = nil
        node.failures += 1
        let wait = Self.reconnection.wait(afterFailures: node.failures, asked: nil, using: &random)
        node.phase = .waiting(until: now.advanced(by: Int64(wait / .nanoseconds(1))))
        if node.isFound, !node.isIdentified {
            // Anyone can announce anything. But a device that needs a key, or is too old, is a real one.
            guard let code, ![.damaged, .noProxy, .ended].contains(code), reportedStrangers.count < Self.maximumNodes,
                reportedStrangers.insert("\(node.title) \(reason)").inserted
            else { return }
        }
        report(node, .adapterLost, "\(reason.sentence) Trying again", &batch)
    }

    /// Leaves a device alone for a number of seconds.
    func pause(_ node: Node, for seconds: Int64, at now: Timestamp) {
        closeSocket(of: node)
        node.phase = .waiting(until: now.advanced(by: seconds * Timestamp.nanosecondsPerSecond))
    }

    func closeSocket(of node: Node) {
        if node.socket >= 0 { CLibrary.close(node.socket) }
        node.socket = -1
        node.client = nil
        node.unsent = []
        node.stoppedSince = nil
    }
}

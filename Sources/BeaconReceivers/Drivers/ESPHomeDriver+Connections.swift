import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The connections to devices: where they are, and what goes to and fro.
extension ESPHomeDriver {
    func begin(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        // What was announced may be old: then the system may know better.
        if let literal = HostResolver.literal(node.target.host, port: node.target.port) {
            connect(node, to: literal, at: now, &batch)
        } else if let known = browser.address(of: node.target.host), node.isFound || node.failures % 2 == 0 {
            connect(node, to: HostResolver.address(known, port: node.target.port), at: now, &batch)
        } else if node.isFound {
            // Its address comes with the next answer: what is announced by anybody is not looked up elsewhere.
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
            return fail(node, "there is no socket for it (\(String(cString: strerror(errno))))", at: now, &batch)
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
            // Who had them before, and restarts with the device, should be there first.
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
        // Not without end, so that one that floods keeps no other from being read.
        for _ in 0..<16 {
            let count = recv(node.socket, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, &batch) }
            guard var client = node.client else { return }
            // The only copy, which is changed in place.
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
                // The device asked for the end, and gets its answer.
                node.client = client
                write(node, at: now, &batch)
                guard node.socket >= 0 else { return }
                if error.code == .noProxy, node.isFound {
                    node.isOther = true
                    return rest(node, for: 3600, at: now)
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
            // A device that takes nothing more is dead before there is much.
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
        if node.isFound, !node.hasMet {
            // What was announced by anybody may be anything; but a device that wants a key, or is old, is one.
            guard let code, ![.damaged, .noProxy, .ended].contains(code), reportedStrangers.count < Self.mostNodes,
                reportedStrangers.insert("\(node.title) \(reason)").inserted
            else { return }
        }
        report(node, .adapterLost, "\(reason.sentence) It is tried again", &batch)
    }

    /// Leaves a device alone for a while, in seconds.
    func rest(_ node: Node, for seconds: Int64, at now: Timestamp) {
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

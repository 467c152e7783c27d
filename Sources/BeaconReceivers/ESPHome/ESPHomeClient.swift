package import BeaconModel
import BeaconNoise
import BeaconSupport

/// The client's side of a connection to a Bluetooth proxy of ESPHome. It does no I/O and reads no clock: the caller
/// passes bytes in and out.
///
/// A proxy has one subscriber for its adverts. Up to version 2026.6 it refuses a second one. Since then the newest
/// wins, and the earlier one gets no notice (esphome/esphome#17423). So this client subscribes on its own only if no
/// other client can lose its adverts.
package struct ESPHomeClient {
    /// The information that a device sends about itself.
    package struct Device: Hashable, Sendable {
        /// Its name in the network.
        package var name = ""
        /// Its address, as the device writes it; empty if it sends none.
        package var address = ""
        /// The version of ESPHome, such as 2026.7.1.
        package var version = ""
        /// The project that it belongs to; empty if it belongs to none.
        package var project = ""
        /// The version of the project; empty if the device sends none.
        package var projectVersion = ""
        /// The features of its Bluetooth proxy; zero if it has no proxy.
        var features: UInt64 = 0

        /// True if it passes on raw adverts (bit 5, since 2023.6).
        var sendsAdverts: Bool { features & 1 << 5 != 0 }
        /// True if it reports the state of its scanner (bit 6, since 2025.5).
        var reportsState: Bool { features & 1 << 6 != 0 }

        /// True if a subscription takes the adverts away from another client. An unknown version counts as one that
        /// does.
        var isTakenOver: Bool {
            let parts = version.split(separator: ".").prefix(2).map { Int($0.prefix { $0.isNumber }) ?? .max }
            return parts.count < 2 || (parts[0], parts[1]) >= (2026, 7)
        }
    }

    /// An event of a device.
    package enum Event: Hashable, Sendable {
        /// The device has sent its information, and it is a proxy.
        case met(Device)
        /// The device would accept a subscription, but another client might lose the adverts without notice.
        case wouldTake
        /// The device sends its adverts to this client. The scanner counts as running unless the device reports
        /// otherwise.
        case subscribed(isScanning: Bool)
        /// The device did not answer the subscription: another client has its adverts, or it hears no adverts.
        case refused
        /// Another client took the adverts.
        case lost
        /// All adverts that the device heard before have arrived.
        case alive
        /// Nothing arrived for longer than the device takes to answer. Adverts since then may be lost.
        case stalled(since: Timestamp)
    }

    /// The silence after which the client pings a device whose adverts it has requested, in nanoseconds.
    private static let askAfter = Timestamp.nanosecondsPerSecond * 2 / 5

    /// The silence after which the client pings other devices, in nanoseconds.
    private static let askIdleAfter = 10 * Timestamp.nanosecondsPerSecond

    /// The silence after which the connection counts as lost, in nanoseconds.
    package static let patience = 15 * Timestamp.nanosecondsPerSecond

    /// The silence after which a device that is pinged all the time must have been unable to send, in nanoseconds. It
    /// drops adverts that it cannot send.
    private static let stall = 3 * askAfter

    /// The time for an answer to a subscription, in nanoseconds: as long as bleak-esphome waits before it tries again.
    private static let answerTime = 10 * Timestamp.nanosecondsPerSecond

    /// The time after which the client repeats a refused subscription, in nanoseconds. The subscriber may have been an
    /// old connection of this very client, which the device drops after 150 s. Also, another program that restarts
    /// should get to subscribe first.
    package static let askAgain = 300 * Timestamp.nanosecondsPerSecond

    /// The interval between two probes of the subscription, in nanoseconds. The device logs each probe.
    private static let probeInterval = 2 * Timestamp.nanosecondsPerSecond

    /// The address of a peripheral that does not exist, for probes of the subscription.
    private static let absentPeripheral: UInt64 = 0xFFFF_FFFF_FFFF

    private enum Subscription {
        /// The client has not subscribed.
        case none
        case asked(at: Timestamp)
        case held
        case notHeld(since: Timestamp)
    }

    private let mayTake: Bool
    private let notBefore: Timestamp
    private var framing: ESPHomeFraming
    private var device = Device()
    private var isIdentified = false
    private var hasExchangedHello = false
    private var isWanted: Bool
    private var hasReportedTaking = false
    private var subscription = Subscription.none
    private var lastMessage: Timestamp
    private var askedAt: Timestamp?
    /// The times of the first probe since the last answer and of the last probe, and whether the device ever answered a
    /// probe.
    private var probedSince: Timestamp?
    private var probedAt: Timestamp?
    private var answersProbes = false
    /// The time of the last answer to a ping.
    private var answeredAt = Timestamp.zero

    /// Creates a client at the beginning of a connection.
    ///
    /// - Parameters:
    ///   - key: the device's key; nil for a plain connection.
    ///   - mayTake: true to subscribe even if another client loses the adverts.
    ///   - isWanted: true if the caller wants adverts now.
    ///   - notBefore: the earliest time for a subscription.
    ///   - time: the time.
    /// - Throws: ``ESPHomeError`` if the library for encryption is missing.
    package init(
        key: [UInt8]?, mayTake: Bool, isWanted: Bool = true, notBefore: Timestamp = .zero, at time: Timestamp
    ) throws(ESPHomeError) {
        self.mayTake = mayTake
        self.isWanted = isWanted
        self.notBefore = notBefore
        framing = try ESPHomeFraming(.initiator, key: key)
        lastMessage = time
        sendHello()
    }

    /// Returns the bytes to send, and removes them from the output.
    package mutating func takeOutput() -> [UInt8] { framing.takeOutput() }

    /// Sets whether the caller wants adverts. A proxy sends them to one client only.
    package mutating func want(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        guard !isWanted else { return }
        switch subscription {
        case .asked, .held:
            try? framing.send(.unsubscribeAdverts)
            subscription = .none
        case .none, .notHeld: break
        }
    }

    /// Processes received bytes.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes.
    ///   - time: the time of their arrival.
    ///   - deliver: receives each advert: address, signal strength in dBm, AD structures.
    ///   - report: receives the events.
    /// - Returns: the reason why the connection is over; nil if it continues.
    package mutating func receive(
        _ bytes: RawSpan, at time: Timestamp, deliver: (DeviceAddress, Int, RawSpan) throws -> Void,
        report: (Event) -> Void
    ) rethrows -> ESPHomeError? {
        if isHeld, time.since(lastMessage) > Self.stall { report(.stalled(since: lastMessage)) }
        lastMessage = max(lastMessage, time)
        askedAt = nil
        var failure: ESPHomeError?
        var state = State(
            device: device, isIdentified: isIdentified, subscription: subscription, isProbed: probedSince != nil,
            // Without takeover the subscription lasts as long as the connection, and the device would report a stopped
            // scanner.
            isAnswerEnough: isHeld && !device.isTakenOver && device.reportsState)
        let fault = try framing.receive(bytes) { kind, content in
            // Nearly all messages are adverts.
            if kind == Int(ESPHomeMessage.adverts.rawValue) {
                if try !ESPHomeAdverts.forEach(in: content, deliver) { failure = failure ?? .damaged }
                state.noteAdverts()
            } else if let error = state.read(kind, content) {
                failure = failure ?? error
            }
        }
        let wasHeld = isHeld
        (device, subscription) = (state.device, state.subscription)
        if !state.isProbed { probedSince = nil }
        if state.hasAnsweredProbe { answersProbes = true }
        if state.hasAnswered { answeredAt = time }
        do throws(ESPHomeError) {
            sendHello()
            for (kind, content) in state.answers { try framing.send(kind, content) }
            if state.isIdentified, !isIdentified {
                isIdentified = true
                if let error = unusable {
                    failure = failure ?? error
                } else {
                    report(.met(device))
                    try subscribe(at: time, report)
                }
            }
            // Probe at once, to learn early whether the device answers probes.
            if isHeld, !wasHeld { try probe(at: time) }
        } catch {
            failure = failure ?? error
        }
        for event in state.events { report(event) }
        return fault ?? failure
    }

    /// Advances the clock. Pings a silent device.
    ///
    /// - Returns: the reason why the connection is over; nil if it continues.
    package mutating func advance(to time: Timestamp, report: (Event) -> Void) -> ESPHomeError? {
        guard time.since(lastMessage) < Self.patience else {
            return ESPHomeError(.ended, "it has not responded for 15 s")
        }
        guard isIdentified else { return nil }
        do throws(ESPHomeError) {
            try subscribe(at: time, report)
            // Older devices do not answer. Their first advert is the answer.
            if case .asked(let since) = subscription, time.since(since) >= Self.answerTime {
                subscription = .notHeld(since: time)
                report(.refused)
            }
            // It answered a later ping, so no answer to the probe is on its way.
            if let probedSince, answersProbes, isHeld, answeredAt.since(probedSince) >= Self.answerTime / 2 {
                subscription = .notHeld(since: time)
                self.probedSince = nil
                report(.lost)
            }
            guard time >= deadline else { return nil }
            askedAt = time
            try framing.send(.ping)
            if isHeld, probedAt.map({ time.since($0) >= Self.probeInterval }) ?? true { try probe(at: time) }
        } catch {
            return error
        }
        return nil
    }

    /// The time at which `advance` must be called again.
    package var deadline: Timestamp {
        guard isIdentified else { return lastMessage.advanced(by: Self.patience) }
        return (askedAt ?? lastMessage).advanced(by: isInUse ? Self.askAfter : Self.askIdleAfter)
    }

    private var isHeld: Bool { if case .held = subscription { true } else { false } }

    private var isInUse: Bool {
        switch subscription {
        case .asked, .held: true
        case .none, .notHeld: false
        }
    }

    private mutating func sendHello() {
        guard framing.isReady, !hasExchangedHello else { return }
        hasExchangedHello = true
        var hello: [UInt8] = []
        hello.append(field: 1, "swift-beacon")
        hello.append(field: 2, 1)
        hello.append(field: 3, 10)
        // Before 2026.1 a device waits for a login even without a password. Later versions ignore it.
        try? framing.send(.hello, hello)
        try? framing.send(.authentication)
        try? framing.send(.deviceInfo)
    }

    /// The reason why the device cannot be used; nil if it can.
    private var unusable: ESPHomeError? {
        if device.features == 0 {
            return ESPHomeError(.noProxy, "it has no bluetooth_proxy: in its configuration; add one")
        }
        if !device.sendsAdverts {
            return ESPHomeError(.tooOld, "it runs ESPHome \(device.version); update it to 2023.6 or later")
        }
        return nil
    }

    /// Subscribes if the caller wants adverts and no other client loses them, or may lose them.
    private mutating func subscribe(at time: Timestamp, _ report: (Event) -> Void) throws(ESPHomeError) {
        guard isWanted, time >= notBefore else { return }
        switch subscription {
        case .none: break
        case .notHeld(let since) where !device.isTakenOver && time.since(since) >= Self.askAgain: break
        default: return
        }
        guard mayTake || !device.isTakenOver else {
            if !hasReportedTaking { report(.wouldTake) }
            hasReportedTaking = true
            return
        }
        var content: [UInt8] = []
        // Raw adverts.
        content.append(field: 1, 1)
        try framing.send(.subscribeAdverts, content)
        subscription = .asked(at: time)
    }

    /// Probes whether this client still has the adverts of a device from which other clients can take them.
    ///
    /// A read request to a peripheral that is not connected changes nothing. The device answers with an error to the
    /// client that has the adverts (bluetooth_proxy.cpp, handle_gatt_not_connected_). A device without connections may
    /// not answer.
    private mutating func probe(at time: Timestamp) throws(ESPHomeError) {
        guard device.isTakenOver else { return }
        var content: [UInt8] = []
        content.append(field: 1, Self.absentPeripheral)
        content.append(field: 2, 1)
        try framing.send(.readCharacteristic, content)
        probedAt = time
        probedSince = probedSince ?? time
    }

    /// The state that messages change.
    private struct State {
        var device: Device
        var isIdentified: Bool
        var subscription: Subscription
        var isProbed: Bool
        var isAnswerEnough: Bool
        var hasAnsweredProbe = false
        var hasAnswered = false
        var events: [Event] = []
        var answers: [(ESPHomeMessage, [UInt8])] = []

        mutating func noteAdverts() {
            isProbed = false
            switch subscription {
            case .held: events.append(.alive)
            // A device that reports its scanner's state sends that first. Earlier adverts belong to an older
            // subscription.
            case .asked where !device.reportsState, .notHeld:
                subscription = .held
                events.append(.subscribed(isScanning: true))
            case .none, .asked: break
            }
        }

        /// Reads a message other than adverts.
        mutating func read(_ kind: Int, _ content: RawSpan) -> ESPHomeError? {
            let whole = 0..<content.byteCount
            switch UInt16(exactly: kind).map(ESPHomeMessage.init(rawValue:)) {
            case .authenticationAnswer:
                var isWrong = false
                content.forEachField(in: whole) { field, value in
                    if field == 1, case .number(let number) = value { isWrong = number != 0 }
                    return true
                }
                return isWrong
                    ? ESPHomeError(
                        .passwordNeeded,
                        "it requires a password, which ESPHome no longer supports; "
                            + "put encryption: with a key into its api: instead"
                    )
                    : nil
            case .deviceInfoAnswer:
                content.forEachField(in: whole) { field, value in
                    switch (field, value) {
                    case (2, .bytes(let range)): device.name = content.name(range)
                    case (3, .bytes(let range)): device.address = content.name(range).printable
                    case (4, .bytes(let range)): device.version = content.name(range).printable
                    case (8, .bytes(let range)): device.project = content.name(range)
                    case (9, .bytes(let range)): device.projectVersion = content.name(range).printable
                    case (15, .number(let number)): device.features = number
                    default: break
                    }
                    return true
                }
                isIdentified = true
            case .scannerState:
                var running: UInt64 = 0
                content.forEachField(in: whole) { field, value in
                    if field == 1, case .number(let number) = value { running = number }
                    return true
                }
                // 2 is running (api.proto, BluetoothScannerState). The scanner pauses briefly between two scans.
                isProbed = false
                if case .none = subscription { break }
                subscription = .held
                events.append(.subscribed(isScanning: running == 2))
            case .readError:
                var address: UInt64 = 0
                content.forEachField(in: whole) { field, value in
                    if field == 1, case .number(let number) = value { address = number }
                    return true
                }
                guard address == ESPHomeClient.absentPeripheral else { break }
                (isProbed, hasAnsweredProbe) = (false, true)
                switch subscription {
                case .held: events.append(.alive)
                // The answer was late: no other client had taken the adverts.
                case .notHeld:
                    subscription = .held
                    events.append(.subscribed(isScanning: true))
                case .none, .asked: break
                }
            case .ping: answers.append((.pingAnswer, []))
            case .pingAnswer:
                hasAnswered = true
                if isAnswerEnough { events.append(.alive) }
            case .disconnect:
                answers.append((.disconnectAnswer, []))
                return .ended
            default: break
            }
            return nil
        }
    }
}

extension RawSpan {
    /// Returns a name that a device sent, shortened.
    fileprivate func name(_ range: Range<Int>) -> String { text(range.prefix(64)) }
}

package import BeaconModel
import BeaconNoise
import BeaconSupport

/// The client's side of a connection to a Bluetooth proxy of ESPHome. It does no I/O and reads no clock: bytes go in
/// and out.
///
/// A proxy has one subscriber for its adverts. Up to version 2026.6 a second one is refused; since then the newest wins
/// and nobody is told (esphome/esphome#17423). So this client subscribes by itself only where it could take nothing
/// away.
package struct ESPHomeClient {
    /// What a device says of itself.
    package struct Device: Hashable, Sendable {
        /// Its name in the network.
        package var name = ""
        /// Its address, as it writes it; empty where it does not say it.
        package var address = ""
        /// The version of ESPHome, such as 2026.7.1.
        package var version = ""
        /// The project that it is of; empty where it is of none.
        package var project = ""
        /// The version of the project; empty where the device gives none.
        package var projectVersion = ""
        /// What its Bluetooth proxy can do; zero where it has none.
        var features: UInt64 = 0

        /// True where it passes adverts on as they are (bit 5, since 2023.6).
        var sendsAdverts: Bool { features & 1 << 5 != 0 }
        /// True where it tells the state of its scanner (bit 6, since 2025.5).
        var reportsState: Bool { features & 1 << 6 != 0 }

        /// True where a subscription takes the adverts from whoever has them, unless that is known to be otherwise.
        var isTakenOver: Bool {
            let parts = version.split(separator: ".").prefix(2).map { Int($0.prefix { $0.isNumber }) ?? .max }
            return parts.count < 2 || (parts[0], parts[1]) >= (2026, 7)
        }
    }

    /// What happened.
    package enum Event: Hashable, Sendable {
        /// The device said who it is, and it is a proxy.
        case met(Device)
        /// The device would give this client the adverts, and might take them from another, who would not be told.
        case wouldTake
        /// The device gives this client its adverts; true where its scanner runs, as far as it says so.
        case subscribed(isScanning: Bool)
        /// The device did not answer the subscription: another client has its adverts, or there are none.
        case refused
        /// Another client took the adverts.
        case lost
        /// What the device heard before has come.
        case alive
        /// Nothing came for longer than the device takes to answer: what it heard since may have been dropped on the
        /// way.
        case stalled(since: Timestamp)
    }

    /// For how long a device whose adverts are wanted may be silent before it is asked whether it is there, in
    /// nanoseconds.
    private static let askAfter = Timestamp.nanosecondsPerSecond * 2 / 5

    /// The same for one that is not used.
    private static let askIdleAfter = 10 * Timestamp.nanosecondsPerSecond

    /// For how long it may say nothing at all, in nanoseconds.
    package static let patience = 15 * Timestamp.nanosecondsPerSecond

    /// The silence after which a device that is asked all the time has had no way to answer, in nanoseconds: it drops
    /// adverts that it cannot send.
    private static let stall = 3 * askAfter

    /// The time for an answer to a subscription, in nanoseconds: what bleak-esphome waits before it tries again.
    private static let answerTime = 10 * Timestamp.nanosecondsPerSecond

    /// The time after which a subscription that was refused is tried again, in nanoseconds. It may have been an old
    /// connection of this very client, which the device drops after 150 s; and another program that restarts should be
    /// there first.
    package static let askAgain = 300 * Timestamp.nanosecondsPerSecond

    /// The time between two questions whether this client still has the adverts, in nanoseconds. The device logs each.
    private static let probeInterval = 2 * Timestamp.nanosecondsPerSecond

    /// A peripheral that there is not, in the question whether this client has the adverts.
    private static let nobody: UInt64 = 0xFFFF_FFFF_FFFF

    private enum Subscription {
        /// Nothing was asked for.
        case none
        case asked(at: Timestamp)
        case held
        case notHeld(since: Timestamp)
    }

    private let mayTake: Bool
    private let notBefore: Timestamp
    private var framing: ESPHomeFraming
    private var device = Device()
    private var hasMet = false
    private var hasExchangedHello = false
    private var isWanted: Bool
    private var hasReportedTaking = false
    private var subscription = Subscription.none
    private var lastMessage: Timestamp
    private var askedAt: Timestamp?
    /// When the device was asked whether this client still has the adverts, the first time since an answer; when the
    /// last time; and whether it ever answered that.
    private var probedSince: Timestamp?
    private var probedAt: Timestamp?
    private var answersProbes = false
    /// When the device answered last that it is there.
    private var answeredAt = Timestamp.zero

    /// A client at the beginning of a connection.
    ///
    /// - Parameters:
    ///   - key: the device's key; nil for a plain connection.
    ///   - mayTake: true where the adverts may be taken from another client.
    ///   - isWanted: true where adverts are wanted now.
    ///   - notBefore: when the adverts may be asked for at the earliest.
    ///   - time: the time.
    /// - Throws: ``ESPHomeError`` where the library for encryption is missing.
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

    /// Returns the bytes to send, which are no longer to be sent then.
    package mutating func takeOutput() -> [UInt8] { framing.takeOutput() }

    /// Sets whether adverts are wanted: a proxy gives them to one client alone.
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

    /// Takes what came.
    ///
    /// - Parameters:
    ///   - bytes: what came.
    ///   - time: when.
    ///   - deliver: receives each advert: address, signal strength in dBm, AD structures.
    ///   - report: receives what happened.
    /// - Returns: the reason why the connection is over; nil where it goes on.
    package mutating func receive(
        _ bytes: RawSpan, at time: Timestamp, deliver: (DeviceAddress, Int, RawSpan) throws -> Void,
        report: (Event) -> Void
    ) rethrows -> ESPHomeError? {
        if isHeld, time.since(lastMessage) > Self.stall { report(.stalled(since: lastMessage)) }
        lastMessage = max(lastMessage, time)
        askedAt = nil
        var failure: ESPHomeError?
        var state = State(
            device: device, hasMet: hasMet, subscription: subscription, isProbed: probedSince != nil,
            // What cannot be taken away is still there while the connection lives; that the scanner runs it would say.
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
            if state.hasMet, !hasMet {
                hasMet = true
                if let error = unusable {
                    failure = failure ?? error
                } else {
                    report(.met(device))
                    try subscribe(at: time, report)
                }
            }
            // At once, so that it is known whether the device answers that when it matters.
            if isHeld, !wasHeld { try probe(at: time) }
        } catch {
            failure = failure ?? error
        }
        for event in state.events { report(event) }
        return fault ?? failure
    }

    /// Lets time pass: asks a device that is silent whether it is there.
    ///
    /// - Returns: the reason why the connection is over; nil where it goes on.
    package mutating func advance(to time: Timestamp, report: (Event) -> Void) -> ESPHomeError? {
        guard time.since(lastMessage) < Self.patience else {
            return ESPHomeError(.ended, "it has said nothing for 15 s")
        }
        guard hasMet else { return nil }
        do throws(ESPHomeError) {
            try subscribe(at: time, report)
            // The older ones do not answer: of them a first advert is the answer.
            if case .asked(let since) = subscription, time.since(since) >= Self.answerTime {
                subscription = .notHeld(since: time)
                report(.refused)
            }
            // It answered what it was asked later, so that nothing is on its way.
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

    /// When time has to be let pass again.
    package var deadline: Timestamp {
        guard hasMet else { return lastMessage.advanced(by: Self.patience) }
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
        // Before 2026.1 a device waits for a login, even without a password; later ones pass it over.
        try? framing.send(.hello, hello)
        try? framing.send(.authentication)
        try? framing.send(.deviceInfo)
    }

    /// The reason why the device is of no use; nil where it is.
    private var unusable: ESPHomeError? {
        if device.features == 0 {
            return ESPHomeError(.noProxy, "it has no bluetooth_proxy: in its configuration; add one")
        }
        if !device.sendsAdverts {
            return ESPHomeError(.tooOld, "it runs ESPHome \(device.version); update it to 2023.6 or later")
        }
        return nil
    }

    /// Subscribes where adverts are wanted and nothing can be taken away by that, or it may be.
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
        // Adverts as they are.
        content.append(field: 1, 1)
        try framing.send(.subscribeAdverts, content)
        subscription = .asked(at: time)
    }

    /// Asks a device whose adverts others may take whether this client still has them.
    ///
    /// A question to a peripheral that is not connected is answered by an error, which goes to who has the adverts
    /// (bluetooth_proxy.cpp, handle_gatt_not_connected_), and changes nothing. A device without connections may not
    /// answer it.
    private mutating func probe(at time: Timestamp) throws(ESPHomeError) {
        guard device.isTakenOver else { return }
        var content: [UInt8] = []
        content.append(field: 1, Self.nobody)
        content.append(field: 2, 1)
        try framing.send(.readCharacteristic, content)
        probedAt = time
        probedSince = probedSince ?? time
    }

    /// What messages change.
    private struct State {
        var device: Device
        var hasMet: Bool
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
            // One that tells its state does so first; what comes before is of an older subscription, or of none.
            case .asked where !device.reportsState, .notHeld:
                subscription = .held
                events.append(.subscribed(isScanning: true))
            case .none, .asked: break
            }
        }

        /// Reads a message that is no advert.
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
                        "it wants a password, which ESPHome has given up; put encryption: with a key into its api: instead"
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
                hasMet = true
            case .scannerState:
                var running: UInt64 = 0
                content.forEachField(in: whole) { field, value in
                    if field == 1, case .number(let number) = value { running = number }
                    return true
                }
                // 2 is running (api.proto, BluetoothScannerState); it stops for moments between two scans.
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
                guard address == ESPHomeClient.nobody else { break }
                (isProbed, hasAnsweredProbe) = (false, true)
                switch subscription {
                case .held: events.append(.alive)
                // It was late, and nobody had taken them.
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
    /// Returns a name that a device gives, shortened.
    fileprivate func name(_ range: Range<Int>) -> String { text(range.prefix(64)) }
}

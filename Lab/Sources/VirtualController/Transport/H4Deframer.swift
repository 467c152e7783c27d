/// A splitter that cuts the host's bytes on a serial line into packets (Core Specification 5.3, Vol 4, Part A, 2).
struct H4Deframer: Sendable {
    /// The kind of a packet: its first byte.
    enum Indicator: UInt8 {
        case command = 0x01
        case aclData = 0x02
        case synchronousData = 0x03
        case event = 0x04
        case isochronousData = 0x05
    }

    private var buffer: [UInt8] = []

    /// The number of skipped bytes that began no packet.
    private(set) var strayBytes = 0

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Returns the next complete packet after its indicator, or nil until more bytes arrive.
    mutating func next() -> (indicator: Indicator, packet: [UInt8])? {
        while let first = buffer.first {
            guard let indicator = Indicator(rawValue: first) else {
                strayBytes += 1
                buffer.removeFirst()
                continue
            }
            guard let end = end(of: indicator), buffer.count >= end else { return resynchronized() }
            let packet = Array(buffer[1..<end])
            buffer.removeFirst(end)
            return (indicator, packet)
        }
        return nil
    }

    /// Returns a reset command after an incomplete packet, or nil.
    ///
    /// A machine that reboots leaves an incomplete packet, or a terminal's echo. It would swallow the host's packets
    /// for ever. The host begins with a reset (Vol 4, Part E, 7.3.2), and repeats it.
    private mutating func resynchronized() -> (indicator: Indicator, packet: [UInt8])? {
        let reset: [UInt8] = [Indicator.command.rawValue, 0x03, 0x0C, 0x00]
        guard buffer.count > reset.count, buffer.suffix(reset.count).elementsEqual(reset) else { return nil }
        strayBytes += buffer.count - reset.count
        buffer = []
        return (.command, Array(reset.dropFirst()))
    }

    /// Returns the end of the first packet, once its length has arrived (Vol 4, Part E, 5.4).
    private func end(of indicator: Indicator) -> Int? {
        func byte(_ index: Int) -> Int? { index < buffer.count ? Int(buffer[index]) : nil }
        switch indicator {
        case .command, .synchronousData: return byte(3).map { 4 + $0 }
        case .event: return byte(2).map { 3 + $0 }
        case .aclData, .isochronousData:
            guard let low = byte(3), let high = byte(4) else { return nil }
            return 5 + (high << 8 | low)
        }
    }
}

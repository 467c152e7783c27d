import BeaconModel
import BeaconRadio

// Ingics gateways: lines $KIND,TAG,GATEWAY,RSSI,ADVERT[,TIME] (Ingics, iGS03 user guide, payload format), as plain text
// or as strings in JSON. The kinds GPRP, 1MAD and LRAD are adverts; RSPR, 1MSR and LRSR are scan responses. HBRP, a
// heartbeat, and GPSR, the gateway's location, have the gateway in place of a tag, too.

extension ReceiverNetwork {
    private static let ingicsAdverts: Set<String> = ["$GPRP", "$1MAD", "$LRAD", "$RSPR", "$1MSR", "$LRSR"]

    private static let ingicsForm = MessageFault(
        "an Ingics line", "it does not have the form $GPRP,TAG,GATEWAY,RSSI,ADVERT")

    /// Returns the strings in JSON that contain lines: elements of a list, or an object's members or their elements.
    static func ingicsLines(of value: JSONToken, in payload: RawSpan) -> [JSONToken] {
        var lines: [JSONToken] = []
        collectLines(of: value, in: payload, &lines)
        payload.forEachMember(of: value) { _, member in
            collectLines(member, in: payload, &lines)
            collectLines(of: member, in: payload, &lines)
            return true
        }
        return lines
    }

    mutating func readIngics(
        _ lines: [JSONToken], _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        var fault: MessageFault?
        for line in lines {
            // In a string with several lines, the line breaks are escaped.
            let bytes = Array((payload.string(line, limit: .max) ?? "").utf8)
            fault = readIngics(message, bytes.span.bytes, &batch) ?? fault
        }
        return fault
    }

    private static func collectLines(of list: JSONToken, in payload: RawSpan, _ lines: inout [JSONToken]) {
        var found: [JSONToken] = []
        payload.forEachLeaf(of: list) { element in
            collectLines(element, in: payload, &found)
            // Stop at once if the list contains something else.
            return !found.isEmpty
        }
        lines += found
    }

    private static func collectLines(_ value: JSONToken, in payload: RawSpan, _ lines: inout [JSONToken]) {
        guard value.kind == .string, let first = value.range.first,
            payload.unsafeLoad(fromByteOffset: first, as: UInt8.self) == UInt8(ascii: "$")
        else { return }
        lines.append(value)
    }

    mutating func readIngics(
        _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        var fault: MessageFault?
        var start = 0
        while start < payload.byteCount {
            var end = start
            var fields: [Range<Int>] = []
            var field = start
            while end < payload.byteCount {
                let byte = payload.unsafeLoad(fromByteOffset: end, as: UInt8.self)
                if byte == 0x0A || byte == 0x0D { break }
                if byte == UInt8(ascii: ","), fields.count < 6 {
                    fields.append(field..<end)
                    field = end + 1
                }
                end += 1
            }
            fields.append(field..<end)
            if end > start { fault = readIngicsLine(fields, message, payload, &batch) ?? fault }
            start = end + 1
        }
        return fault
    }

    private mutating func readIngicsLine(
        _ fields: [Range<Int>], _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        let kind = payload.text(fields[0])
        if kind == "$HBRP" || kind == "$GPSR", fields.count > 1 {
            return sender(payload.text(fields[1]), .ingics, message) == nil ? refusal : nil
        }
        guard Self.ingicsAdverts.contains(kind), fields.count >= 5 else {
            if fields.count > 2 { noteSign(of: payload.text(fields[2]), .ingics) }
            var fault = Self.ingicsForm
            fault.excerpt = payload.excerpt(fields[0].lowerBound..<fields[fields.count - 1].upperBound)
            return fault
        }
        guard let receiver = sender(payload.text(fields[2]), .ingics, message) else { return refusal }
        var advert = GatewayAdvert()
        advert.address = JSONToken(kind: .string, range: fields[1])
        advert.rssi = JSONToken(kind: .string, range: fields[3])
        advert.data = JSONToken(kind: .string, range: fields[4])
        if fields.count > 5 {
            // Some gateways write an asterisk before the time.
            let isStarred = payload.equals(fields[5].prefix(1), "*")
            let time = fields[5].dropFirst(isStarred ? 1 : 0)
            if !time.isEmpty { advert.time = JSONToken(kind: .string, range: time) }
        }
        hear(advert, of: receiver, in: "an Ingics line", message, payload, &batch)
        return nil
    }
}

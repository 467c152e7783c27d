import ArgumentParser
import BeaconCapture
import BeaconModel

/// The command `beacon decode`, which prints the content of an iBeacon advert.
struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode the bytes of an iBeacon advert.",
        discussion: """
            The bytes are the advert's AD structures in hexadecimal; spaces, colons, hyphens and 0x are allowed. Each \
            argument is an advert, but single bytes as separate arguments are one advert together. Bytes that are no \
            iBeacon give an error that says what they are instead, and exit status 1.

              beacon decode 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5
            """)

    @Argument(help: ArgumentHelp("The bytes of an advert, in hexadecimal.", valueName: "hex"))
    var bytes: [String]

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        // Single bytes as words, as hcitool and hcidump print them, belong together.
        let adverts = bytes.allSatisfy { $0.count <= 2 } ? [bytes.joined()] : bytes
        var hasFailed = false
        var output = try FileOutput(path: "-")
        for advert in adverts {
            do throws(DecodeError) {
                let frame = try Self.decode(advert)
                try? output.append { append(frame, to: &$0) }
            } catch {
                hasFailed = true
                if json {
                    try output.append { buffer in
                        buffer.append(json: "{\"error\":")
                        buffer.append(jsonText: error.message)
                        buffer.append(json: "}\n")
                    }
                } else {
                    StandardError.write("Error: \(error.message)")
                }
            }
        }
        try output.finish()
        if hasFailed { throw ExitCode(1) }
    }

    private func append(_ frame: IBeaconFrame, to buffer: inout [UInt8]) {
        if json {
            EventJSON.append(frame, to: &buffer)
        } else {
            let text = """
                uuid           \(frame.identity.uuid)
                major          \(frame.identity.major)
                minor          \(frame.identity.minor)
                measured power \(frame.measuredPower) dBm at 1 m

                """
            buffer.append(contentsOf: text.utf8)
        }
    }

    /// An error of decoding.
    private struct DecodeError: Error {
        var message: String
    }

    private static func decode(_ text: String) throws(DecodeError) -> IBeaconFrame {
        let bytes = try bytes(in: text)
        if let frame = IBeaconFrame(advert: bytes.span.bytes) { return frame }
        throw DecodeError(message: reason(for: bytes))
    }

    private static func bytes(in text: String) throws(DecodeError) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in text.split(whereSeparator: { " \t\n:-,".contains($0) }) {
            let digits = word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word
            guard digits.utf8.count % 2 == 0 || digits.utf8.count == 1 else {
                throw DecodeError(
                    message: "\"\(word)\" has an odd number of hexadecimal digits; a byte has two")
            }
            var rest = Array(digits.utf8)
            if rest.count == 1 { rest.insert(UInt8(ascii: "0"), at: 0) }
            for index in stride(from: 0, to: rest.count, by: 2) {
                let pair = String(decoding: rest[index..<index + 2], as: UTF8.self)
                guard let byte = UInt8(pair, radix: 16), !pair.hasPrefix("+"), !pair.hasPrefix("-") else {
                    throw DecodeError(message: "\"\(pair)\" is not a hexadecimal byte")
                }
                bytes.append(byte)
            }
        }
        guard !bytes.isEmpty else { throw DecodeError(message: "there are no bytes to decode") }
        return bytes
    }

    /// Returns a description of bytes that are no iBeacon advert.
    private static func reason(for bytes: [UInt8]) -> String {
        let advert = bytes.span.bytes
        if bytes.count > 3, bytes[0] == 0x04, bytes[1] == HCIAdvertisingReportCursor.leMetaEvent {
            return "this is an HCI event, not an advert; put it into a file of 'hcidump -R' form and scan that"
        }
        var cursor = AdvertisingStructureCursor()
        var read = 0
        var companies: [String] = []
        while let structure = cursor.next(in: advert) {
            read = structure.offset + structure.count
            guard structure.type == AdvertisingStructure.manufacturerSpecificData, structure.count >= 2 else {
                continue
            }
            let company = UInt16(bytes[structure.offset]) | UInt16(bytes[structure.offset + 1]) << 8
            if company == 0x004C {
                guard structure.count >= 4, bytes[structure.offset + 2] == 0x02 else {
                    return "this is an advert of Apple's, but of another kind than iBeacon (02 15)"
                }
                return "this iBeacon frame has \(structure.count) bytes behind its type and needs "
                    + "\(IBeaconFrame.payloadCount), or does not say 02 15"
            }
            let digits = String(company, radix: 16, uppercase: true)
            companies.append("0x" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
        if read < bytes.count, bytes[read] != 0 {
            return "the AD structure at byte \(read) claims \(bytes[read]) bytes, and \(bytes.count - read - 1) follow"
        }
        if let company = companies.first {
            return "this advert is of company \(company); iBeacon frames are of 0x004C"
        }
        return "this advert has no manufacturer specific data, in which iBeacon frames travel"
    }
}

import BeaconCapture
import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSimulation

/// The promises of the decoders for any input.
enum Promises {
    static func advert(_ input: [UInt8]) {
        var cursor = AdvertisingStructureCursor()
        while let structure = cursor.next(in: input.span.bytes) {
            precondition(structure.offset + structure.count <= input.count, "a structure beyond the advert")
        }
        guard let frame = IBeaconFrame(advert: input.span.bytes) else { return }
        let again = frame.advert
        precondition(IBeaconFrame(advert: again.span.bytes) == frame, "a frame that its own advert does not carry")
        let payload = again.suffix(IBeaconFrame.payloadCount)
        let isThere = input.indices.contains { input[$0...].starts(with: payload) }
        precondition(isThere, "a frame that the advert does not contain")
    }

    static func event(_ input: [UInt8]) {
        var cursor = HCIAdvertisingReportCursor(event: input.span.bytes)
        var count = 0
        while let report = cursor.next(in: input.span.bytes) {
            advert(Array(input[report.offset..<report.offset + report.count]))
            count += 1
        }
        precondition(count <= 255, "more reports than an event can contain")
    }

    static func linkLayerPacket(_ input: [UInt8]) {
        for offset in 4...5 {
            _ = LinkLayerAdvertisement.integrity(of: input.span.bytes, headerOffset: offset)
            guard let found = LinkLayerAdvertisement(packet: input.span.bytes, headerOffset: offset) else { continue }
            advert(Array(input[found.offset..<found.offset + found.count]))
        }
    }

    /// The topic is the first line, and a letter before it selects a mapping.
    static func receiverMessage(_ input: [UInt8]) {
        guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return }
        var settings = ReceiverNetwork.Settings()
        if input[0] == UInt8(ascii: "m"), let each = JSONPath("a.0"), let path = JSONPath("b") {
            settings.mapping = ReceiverMapping(
                receiver: .level(1), each: each, address: path, rssi: path, data: path, encoding: .base64, time: path)
            settings.mapping?.uuid = JSONPath("u")
            settings.mapping?.major = JSONPath("v")
            settings.mapping?.minor = JSONPath("w")
            settings.mapping?.power = path
            settings.mapping?.state = JSONPath("s")
        }
        var network = ReceiverNetwork(settings)
        network.connect(at: .zero)
        let topic = Array(input[..<end].dropFirst())
        let payload = Array(input[(end + 1)...])
        for seconds in [1, 2, 100] {
            let now = Timestamp(nanoseconds: Int64(seconds) * Timestamp.nanosecondsPerSecond)
            var adverts = 0
            var batch = AdvertBatch(keepsAdverts: true)
            network.receive(
                topic: topic.span.bytes, payload: payload.span.bytes, isRetained: false, at: now, into: &batch)
            batch.forEachAdvert { reception, bytes in
                precondition((reception.time ?? .latest) <= now, "an advert of the future")
                adverts += 1
                advert(bytes.withUnsafeBytes { Array($0) })
            }
            for case .deaf(let from, let to, _) in batch.events {
                precondition(from < to && to <= now, "an empty or future deafness")
            }
            precondition(adverts <= payload.count, "more adverts than bytes")
            network.advance(to: now, into: &batch)
        }
        precondition(network.receivers.count == network.names.count && Set(network.names).count == network.names.count)
    }

    /// The first byte sets the size of the pieces of the rest, and whether they are an answer of multicast DNS.
    static func esphome(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        guard first != 0 else { return ESPHomeProbe.readAnswer(bytes.span.bytes) }
        let adverts = ESPHomeProbe.readConnection(bytes, inPiecesOf: Int(first))
        precondition(adverts <= bytes.count, "more adverts than bytes")
        // The longest answer, the device information, has less than 200 bytes.
        let answered = ESPHomeProbe.readRequests(bytes, inPiecesOf: Int(first))
        precondition(answered <= 300 * (bytes.count + 1), "more answers than questions")
    }

    static func capture(_ input: [UInt8]) {
        do {
            var reader = try CaptureReader(bytes: input)
            var previous = SourceCounts()
            var batch = AdvertBatch(keepsAdverts: true)
            do {
                while try reader.next(into: &batch) != nil {
                    batch.forEachAdvert { _, bytes in advert(bytes.withUnsafeBytes { Array($0) }) }
                    batch.begin()
                    precondition(reader.counts.packets > previous.packets, "a record that does not count")
                    previous = reader.counts
                }
            } catch let error as CaptureError {
                if let offset = error.offset {
                    precondition(offset >= 0, "an error before the file")
                    // Decompressed content may be longer than the input.
                    precondition(
                        input.starts(with: [0x1F, 0x8B]) || offset <= input.count, "an error after the end of the file")
                }
                precondition(!error.description.isEmpty)
            } catch {
                preconditionFailure("an error of another kind: \(error)")
            }
            batch.begin()
            let last = try? reader.next(into: &batch)
            precondition(last == nil, "a record after the end")
            batch.forEachAdvert { _, _ in preconditionFailure("an advert after the end") }
        } catch {
            precondition(!error.description.isEmpty)
        }
    }

    static func sighting(_ input: [UInt8]) {
        // With a brace, any input is a sighting log.
        capture(input.first == UInt8(ascii: "{") ? input : [UInt8(ascii: "{")] + input)
    }

    static func pasted(_ input: [UInt8]) {
        do throws(PastedAdvertError) {
            let frame = try PastedAdvert(String(decoding: input, as: UTF8.self)).frame
            let digits = frame.advert.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined(separator: " ")
            precondition((try? PastedAdvert(digits))?.frame == frame, "a frame that its own advert does not carry")
        } catch {
            precondition(!error.message.isEmpty && !error.message.contains("\n"), "a reason that is not a sentence")
        }
    }

    static func scenario(_ input: [UInt8]) {
        do {
            _ = try Scenario(json: input)
        } catch {
            precondition(error is ScenarioError, "an error of another kind: \(error)")
        }
    }

    static func text(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let uuid = ProximityUUID(text) {
            precondition(ProximityUUID(uuid.description) == uuid)
        }
        if let constraint = BeaconConstraint(text) {
            precondition(BeaconConstraint(constraint.description) == constraint)
        }
        if let address = DeviceAddress(text) {
            precondition(DeviceAddress(address.description) == address)
        }
    }
}

import BeaconModel

/// A decoder to fuzz, with initial inputs.
///
/// A decoder passes if it neither traps nor breaks a promise that holds for any input.
struct FuzzTarget: Sendable {
    typealias Callback = @convention(c) @Sendable (UnsafePointer<UInt8>?, Int) -> CInt

    var name: String
    var seeds: [[UInt8]]
    /// The function that libFuzzer calls with each input.
    var callback: Callback

    static let all = [
        FuzzTarget(name: "advert", seeds: Seeds.adverts) { data, count in
            Promises.advert(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "hci-event", seeds: Seeds.events) { data, count in
            Promises.event(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "link-layer", seeds: Seeds.linkLayerPackets) { data, count in
            Promises.linkLayerPacket(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "capture", seeds: Seeds.captures) { data, count in
            Promises.capture(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "sighting", seeds: Seeds.sightings) { data, count in
            Promises.sighting(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "receiver-message", seeds: Seeds.receiverMessages) { data, count in
            Promises.receiverMessage(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "esphome", seeds: Seeds.esphome) { data, count in
            Promises.esphome(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "pasted", seeds: Seeds.pasted) { data, count in
            Promises.pasted(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "scenario", seeds: Seeds.scenarios) { data, count in
            Promises.scenario(bytes(data, count))
            return 0
        },
        FuzzTarget(name: "text", seeds: Seeds.texts) { data, count in
            Promises.text(bytes(data, count))
            return 0
        },
    ]

    private static func bytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: data, count: count))
    }
}

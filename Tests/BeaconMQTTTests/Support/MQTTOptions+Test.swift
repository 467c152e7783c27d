import BeaconDelivery
import BeaconMQTT

extension MQTTOptions {
    /// A broker on this machine, that is soon tried again.
    static func test(
        port: UInt16, clientID: String = "gateway", version: MQTTVersion = .v3_1_1, announces: Bool = true
    ) -> MQTTOptions {
        MQTTOptions(
            host: "127.0.0.1", port: port, version: version, clientID: clientID, baseTopic: "beacond/hall",
            announcesAvailability: announces,
            reconnection: BackOff(base: .milliseconds(20), maximum: .milliseconds(200)))
    }
}

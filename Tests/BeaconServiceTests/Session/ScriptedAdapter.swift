import BeaconModel
import BeaconRadio

@testable import BeaconService
@testable import LinuxRadio

/// An adapter that does what a test says, in real time, as the loop that waits for adapters does.
final class ScriptedAdapter: AdapterDriver {
    let name = "hci0"
    let descriptor: Int32 = -1
    let interest: Int16 = 0
    var state = RadioState.poweredOn

    /// A beacon that is heard each time that the loop comes by; nil for silence.
    var beacon: IBeaconFrame?

    private var next = Timestamp.zero

    var deadline: Timestamp { next }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        tell: (RadioEvent) -> Void
    ) throws {
        next = now.advanced(by: 10_000_000)
        guard state == .poweredOn, let advert = beacon?.advert else { return }
        let report = AdvertisingReport(
            kind: .nonConnectable, address: DeviceAddress(bits: 1, kind: .random), rssi: SignalStrength(rawValue: -60))
        try deliver(Reception(time: now, receiver: receiver, report: report), advert.span.bytes)
    }

    /// What is heard by this adapter alone.
    func makeSource() throws -> SightingSource {
        SightingSource(OpenSource(try LiveSource([self], mode: .ranging, tell: { _ in })))
    }

    func scan(_ mode: ScanMode) {}
    func advertise(_ frames: [IBeaconFrame]) {}
    func close() {}
}

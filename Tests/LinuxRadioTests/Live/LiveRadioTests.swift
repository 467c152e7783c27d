import BeaconModel
import BeaconRadio
import LinuxRadio
import Testing

@Suite("Live radio")
struct LiveRadioTests {
    /// An address that no adapter of any machine has: the null address.
    private static let nobody = RadioSelection(.hci, adapters: [.address(DeviceAddress(bits: 0, kind: .public))])

    private static let frame = IBeaconFrame(
        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)

    @Test("Without its adapter it says why, tells the time all the same, and refuses to send", .timeLimit(.minutes(1)))
    func noAdapter() async {
        let radio = LiveRadio(Self.nobody)
        radio.advertise([Self.frame])
        var hasState = false
        var notice: RadioNotice?
        var refusal: RadioError?
        var times: [Timestamp] = []
        for await event in radio.events() {
            switch event {
            case .state(let state):
                hasState = state != .poweredOn
            case .notice(let new):
                notice = notice ?? new
            case .advertising(.failure(let error)):
                refusal = error
            case .time(let time):
                times.append(time)
            case .advertising, .sightings, .wallClock:
                break
            }
            if times.count >= 2, refusal != nil { break }
        }
        #expect(hasState)
        #expect(notice?.kind == .adapterLost)
        #expect(refusal?.message == notice?.message)
        #expect(times == times.sorted())
    }
}

import BeaconCombine
import BeaconSupport
import BeaconTestKit
import CoreLocation
import FoundationNetworking
import Testing

/// A model as in apps: a delegate that publishes.
private final class Guide: NSObject, ObservableObject, CLLocationManagerDelegate {
    @Published private(set) var nearest: CLBeacon?
    @Published private(set) var isInside = false
    let events = PassthroughSubject<String, Never>()
    private let manager = CLLocationManager()
    private let region: CLBeaconRegion

    init(_ uuid: UUID) {
        region = CLBeaconRegion(uuid: uuid, identifier: "hall")
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoring(for: region)
        manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        isInside = true
        events.send("enter")
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        isInside = false
        events.send("exit")
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        nearest = beacons.first { $0.proximity != .unknown }
    }
}

@Suite("Combine in an app")
struct PublisherTests {
    private static let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID()

    @Test("A pipeline on an app's model receives the events of the air")
    func pipeline() async {
        let air = SimulatedAir()
        let guide = air.device.run { Guide(Self.uuid) }
        let (words, minors, changes) = (Locked<[String]>([]), Locked<[Int]>([]), Locked(0))
        var subscriptions: Set<AnyCancellable> = []
        guide.events.sink { word in words.withLock { $0.append(word) } }.store(in: &subscriptions)
        guide.$nearest.compactMap { $0?.minor.intValue }.removeDuplicates()
            .sink { minor in minors.withLock { $0.append(minor) } }.store(in: &subscriptions)
        guide.objectWillChange.sink { changes.withLock { $0 += 1 } }.store(in: &subscriptions)
        await air.advance(by: .seconds(60))
        let first = air.place(SimulatedBeacon(uuid: Self.uuid, major: 1, minor: 7, at: .distance(1)))
        await air.advance(by: .seconds(10))
        air.place(SimulatedBeacon(uuid: Self.uuid, major: 1, minor: 8, at: .distance(0.2)))
        await air.advance(by: .seconds(20))
        #expect(guide.isInside)
        first.remove()
        await air.advance(by: .seconds(5))
        #expect(words.withLock { $0 } == ["enter"])
        #expect(minors.withLock { $0 } == [7, 8])
        #expect(changes.withLock { $0 } > 10)
    }

    @Test("Values that a pipeline passes to the main queue or run loop have arrived when the air has advanced")
    @MainActor
    func schedulers() async {
        let air = SimulatedAir()
        let guide = air.device.run { Guide(Self.uuid) }
        let minors = Locked<[String: [Int]]>([:])
        var subscriptions: Set<AnyCancellable> = []
        let nearest = guide.$nearest.compactMap { $0?.minor.intValue }.removeDuplicates()
        func keep(_ name: String) -> (Int) -> Void {
            { minor in minors.withLock { $0[name, default: []].append(minor) } }
        }
        nearest.receive(on: DispatchQueue.main).sink(receiveValue: keep("queue")).store(in: &subscriptions)
        nearest.receive(on: RunLoop.main).sink(receiveValue: keep("run loop")).store(in: &subscriptions)
        nearest.receive(on: DispatchQueue.main).map { $0 + 1 }.receive(on: RunLoop.main)
            .receive(on: DispatchQueue.main).sink(receiveValue: keep("several")).store(in: &subscriptions)
        for minor in 1...20 {
            let beacon = air.place(
                SimulatedBeacon(uuid: Self.uuid, major: 1, minor: UInt16(minor), at: .distance(0.3)))
            await air.advance(by: .seconds(5))
            #expect(minors.withLock { $0["queue"]?.last } == minor)
            #expect(minors.withLock { $0["run loop"]?.last } == minor)
            #expect(minors.withLock { $0["several"]?.last } == minor + 1)
            beacon.remove()
            await air.advance(by: .seconds(30))
        }
    }

    @Test("Notifications are published from the subscription until it is cancelled")
    func notifications() {
        let center = NotificationCenter()
        let name = Notification.Name("beacon")
        let (here, elsewhere) = (NSObject(), NSObject())
        let received = Locked<[Int]>([])
        center.post(name: name, object: here, userInfo: ["minor": 1])
        let subscription = center.publisher(for: name, object: here)
            .compactMap { $0.userInfo?["minor"] as? Int }
            .sink { minor in received.withLock { $0.append(minor) } }
        center.post(name: name, object: here, userInfo: ["minor": 2])
        center.post(name: name, object: elsewhere, userInfo: ["minor": 3])
        subscription.cancel()
        center.post(name: name, object: here, userInfo: ["minor": 4])
        #expect(received.withLock { $0 } == [2])
    }

    @Test("Foundation's coders decode and encode values")
    func coders() throws {
        var read: [[Int]] = []
        let subscription = Just(Data("[1,2]".utf8)).decode(type: [Int].self, decoder: JSONDecoder())
            .encode(encoder: PropertyListEncoder()).decode(type: [Int].self, decoder: PropertyListDecoder())
            .sink(receiveCompletion: { _ in }, receiveValue: { read.append($0) })
        #expect(read == [[1, 2]])
        withExtendedLifetime(subscription) {}
    }

    @Test("A failed request is a failure of the publisher")
    func request() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let (stream, continuation) = AsyncStream<URLError?>.makeStream()
        let subscription = URLSession.shared.dataTaskPublisher(for: url).sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { continuation.yield(error) } else { continuation.yield(nil) }
            }, receiveValue: { _ in })
        for await error in stream {
            #expect(error?.code == .cannotConnectToHost)
            break
        }
        withExtendedLifetime(subscription) {}
    }
}

@Suite("Operators that OpenCombine lacks")
struct OperatorTests {
    @Test("Merged publishers publish all values, and end with the last")
    func merging() {
        let (first, second, third) = (
            PassthroughSubject<Int, URLError>(), PassthroughSubject<Int, URLError>(),
            PassthroughSubject<Int, URLError>()
        )
        var words: [String] = []
        let subscription = first.merge(with: second, third).sink(
            receiveCompletion: { words.append("\($0)") }, receiveValue: { words.append("\($0)") })
        first.send(1)
        third.send(2)
        first.send(completion: .finished)
        second.send(3)
        second.send(completion: .finished)
        #expect(words == ["1", "2", "3"])
        third.send(completion: .finished)
        #expect(words == ["1", "2", "3", "finished"])
        withExtendedLifetime(subscription) {}
    }

    @Test("The newest values are combined once all publishers have one")
    func combining() {
        let (first, second, third) = (
            PassthroughSubject<Int, Never>(), CurrentValueSubject<String, Never>("a"), PassthroughSubject<Bool, Never>()
        )
        var pairs: [String] = []
        var triples: [String] = []
        let subscriptions = [
            first.combineLatest(second) { "\($0)\($1)" }.sink { pairs.append($0) },
            first.combineLatest(second, third).sink { triples.append("\($0)\($1)\($2)") },
        ]
        first.send(1)
        second.send("b")
        first.send(2)
        third.send(true)
        second.send("c")
        #expect(pairs == ["1a", "1b", "2b", "2c"])
        #expect(triples == ["2btrue", "2ctrue"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test("A failure of one publisher is a failure of the combination")
    func failing() {
        let (first, second) = (PassthroughSubject<Int, URLError>(), PassthroughSubject<Int, URLError>())
        var codes: [URLError.Code] = []
        let note: (Subscribers.Completion<URLError>) -> Void = {
            if case .failure(let error) = $0 { codes.append(error.code) }
        }
        let subscriptions = [
            first.merge(with: second).sink(receiveCompletion: note, receiveValue: { _ in }),
            first.combineLatest(second).sink(receiveCompletion: note, receiveValue: { _ in }),
        ]
        second.send(completion: .failure(URLError(.timedOut)))
        #expect(codes == [.timedOut, .timedOut])
        withExtendedLifetime(subscriptions) {}
    }
}

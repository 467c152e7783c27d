import BeaconEngine
import BeaconModel
import Testing

@Suite("Proximity")
struct ProximityClassifierTests {
    private let classifier = ProximityClassifier(hysteresis: 0.1)

    @Test(
        "Without a history, the limits are 0.5 m and 3 m",
        arguments: [
            (0.0, Proximity.immediate), (0.49, .immediate), (0.5, .near), (2.99, .near), (3, .far), (1e9, .far),
            (-1, .unknown),
        ])
    func borders(distance: Double, expected: Proximity) {
        #expect(classifier.classify(distance, previous: .unknown) == expected)
    }

    @Test("The proximity changes only if a limit is passed by a tenth")
    func hysteresis() {
        #expect(classifier.classify(3.2, previous: .near) == .near)
        #expect(classifier.classify(3.31, previous: .near) == .far)
        #expect(classifier.classify(2.8, previous: .far) == .far)
        #expect(classifier.classify(2.7, previous: .far) == .near)
        #expect(classifier.classify(0.54, previous: .immediate) == .immediate)
        #expect(classifier.classify(0.46, previous: .near) == .near)
    }

    @Test("Large changes skip a class")
    func jumps() {
        #expect(classifier.classify(0.1, previous: .far) == .immediate)
        #expect(classifier.classify(10, previous: .immediate) == .far)
    }
}

@Suite("Distance")
struct TwoSlopeModelTests {
    private let model = TwoSlopeModel(innerExponent: 1.2, outerExponent: 2)

    @Test("The measured power means one meter, and each 20 dB less means ten times the distance")
    func decades() {
        #expect(abs(model.distance(level: -59, measuredPower: -59) - 1) < 1e-9)
        #expect(abs(model.distance(level: -79, measuredPower: -59) - 10) < 1e-9)
        #expect(abs(model.distance(level: -99, measuredPower: -59) - 100) < 1e-7)
        #expect(abs(model.distance(level: -47, measuredPower: -59) - 0.1) < 1e-9)
    }

    @Test("The distance never falls as the signal falls")
    func monotony() {
        var last = 0.0
        for level in stride(from: 20.0, through: -127, by: -0.25) {
            let distance = model.distance(level: level, measuredPower: -59)
            #expect(distance > last)
            last = distance
        }
    }
}

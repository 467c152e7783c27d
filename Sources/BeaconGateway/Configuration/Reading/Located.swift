/// A value, and where it was given.
struct Located<Value: Sendable>: Sendable {
    var value: Value
    var origin: Mistake.Origin

    init(_ value: Value, _ origin: Mistake.Origin) {
        self.value = value
        self.origin = origin
    }
}

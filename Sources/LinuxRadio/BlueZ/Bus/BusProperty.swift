/// A property of an object that is offered on the bus.
struct BusProperty {
    /// Its name.
    var name: String

    /// The type of its value, in the bus's notation.
    var type: String

    /// Appends the value.
    var append: (BusMessage) throws(BusError) -> Void
}

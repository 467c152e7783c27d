/// An interface of an object that is offered on the bus.
struct BusInterface {
    /// A method: reads its arguments from the call and appends what it returns to the answer.
    typealias Method = (_ call: BusMessage, _ answer: BusMessage) throws(BusError) -> Void

    /// Its name.
    var name: String

    /// What can be read.
    var properties: [BusProperty] = []

    /// What can be called, by name.
    var methods: [String: Method] = [:]

    /// Appends all properties with their values: `a{sv}`.
    func appendProperties(to message: BusMessage) throws(BusError) {
        try message.appendArray(of: "{sv}") { () throws(BusError) in
            for property in properties {
                try message.appendEntry("sv") { () throws(BusError) in
                    try message.append(property.name)
                    try message.appendVariant(property.type) { () throws(BusError) in try property.append(message) }
                }
            }
        }
    }

    /// What tools show, in the notation of the D-Bus Specification, "Introspection Data Format".
    var introspection: String {
        let members =
            methods.keys.sorted().map { "<method name=\"\($0)\"/>" }
            + properties.map { "<property name=\"\($0.name)\" type=\"\($0.type)\" access=\"read\"/>" }
        return "<interface name=\"\(name)\">\(members.joined())</interface>"
    }
}

/// An object on the bus, registered for as long as this instance exists.
///
/// It implements the standard interfaces: Properties, Introspectable and, if it manages other objects, ObjectManager
/// (D-Bus Specification, "Standard Interfaces").
final class BusObject {
    /// The path.
    let path: String

    private let interfaces: [BusInterface]
    private let managed: () -> [BusObject]
    private var slot: BusSlot?

    /// Registers an object.
    ///
    /// - Parameter managed: returns the managed objects, each of which is registered separately; nil for an object that
    ///   manages none.
    init(
        on bus: SystemBus, at path: String, _ interfaces: [BusInterface], managing managed: (() -> [BusObject])? = nil
    ) throws(BusError) {
        self.path = path
        self.managed = managed ?? { [] }
        var standard = interfaces
        if managed != nil { standard.append(BusInterface(name: "org.freedesktop.DBus.ObjectManager")) }
        self.interfaces = standard
        slot = try bus.offer(path) { [weak self] call in self?.answer(call) }
    }

    /// Appends the interfaces with their properties: `a{sa{sv}}`.
    func appendInterfaces(to message: BusMessage) throws(BusError) {
        try message.appendArray(of: "{sa{sv}}") { () throws(BusError) in
            for interface in interfaces where !interface.name.hasPrefix("org.freedesktop.DBus.") {
                try message.appendEntry("sa{sv}") { () throws(BusError) in
                    try message.append(interface.name)
                    try interface.appendProperties(to: message)
                }
            }
        }
    }

    private func answer(_ call: BusMessage) {
        do throws(BusError) {
            let answer = try call.makeAnswer()
            do throws(BusError) {
                try perform(call, answer)
                try answer.send()
            } catch {
                try call.makeRefusal(error).send()
            }
        } catch {
            // The caller or the connection is lost. The connection's owner notices the latter by itself.
        }
    }

    private func perform(_ call: BusMessage, _ answer: BusMessage) throws(BusError) {
        switch (call.interface, call.member) {
        case ("org.freedesktop.DBus.Properties", "GetAll"):
            try interface(try call.readString()).appendProperties(to: answer)
        case ("org.freedesktop.DBus.Properties", "Get"):
            let interface = try interface(try call.readString())
            let name = try call.readString()
            guard let property = interface.properties.first(where: { $0.name == name }) else {
                throw BusError("org.freedesktop.DBus.Error.UnknownProperty", "there is no property \(name)")
            }
            try answer.appendVariant(property.type) { () throws(BusError) in try property.append(answer) }
        case ("org.freedesktop.DBus.Introspectable", "Introspect"):
            try answer.append("<node>\(interfaces.map(\.introspection).joined())</node>")
        case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
            try answer.appendArray(of: "{oa{sa{sv}}}") { () throws(BusError) in
                for object in managed() {
                    try answer.appendEntry("oa{sa{sv}}") { () throws(BusError) in
                        try answer.append(path: object.path)
                        try object.appendInterfaces(to: answer)
                    }
                }
            }
        case (let name, let member):
            guard let method = try interface(name).methods[member] else {
                throw BusError("org.freedesktop.DBus.Error.UnknownMethod", "\(name) has no method \(member)")
            }
            try method(call, answer)
        }
    }

    private func interface(_ name: String) throws(BusError) -> BusInterface {
        guard let interface = interfaces.first(where: { $0.name == name }) else {
            throw BusError("org.freedesktop.DBus.Error.UnknownInterface", "\(path) has no interface \(name)")
        }
        return interface
    }
}

/// An interface of an object on the bus.
struct BusInterface {
    /// A method: reads its arguments from the call and appends its results to the answer.
    typealias Method = (_ call: BusMessage, _ answer: BusMessage) throws(BusError) -> Void

    /// The interface's name.
    var name: String

    /// The readable properties.
    var properties: [BusProperty] = []

    /// The methods, by name.
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

    /// The XML description for tools (D-Bus Specification, "Introspection Data Format").
    var introspection: String {
        let members =
            methods.keys.sorted().map { "<method name=\"\($0)\"/>" }
            + properties.map { "<property name=\"\($0.name)\" type=\"\($0.type)\" access=\"read\"/>" }
        return "<interface name=\"\(name)\">\(members.joined())</interface>"
    }
}

/// A property of an object on the bus.
struct BusProperty {
    /// The property's name.
    var name: String

    /// The type of its value, as a D-Bus signature.
    var type: String

    /// Appends the value.
    var append: (BusMessage) throws(BusError) -> Void
}

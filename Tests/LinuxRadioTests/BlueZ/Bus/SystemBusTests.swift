import BeaconModel
import TestSupport
import Testing

@testable import LinuxRadio

@Suite("System bus", .fewAtATime)
struct SystemBusTests {
    /// Two connections to one bus, and the objects that one of them offers.
    private final class Line {
        let server: SystemBus
        let client: SystemBus
        /// The server's name on the bus.
        let name = "io.example.Server"

        init(_ bus: PrivateBus) throws {
            server = try SystemBus(address: bus.address)
            client = try SystemBus(address: bus.address)
        }

        /// Calls and waits while both sides work.
        func call(
            _ bus: SystemBus, _ destination: String, _ path: String, _ interface: String, _ method: String,
            arguments: (BusMessage) throws(BusError) -> Void = { _ throws(BusError) in }
        ) throws -> Result<BusMessage, BusError> {
            var answer: Result<BusMessage, BusError>?
            let slot = try bus.call(destination, path, interface, method, arguments: arguments) { answer = $0 }
            return try withExtendedLifetime(slot) {
                while true {
                    if let answer { return answer }
                    while try server.process() {}
                    while try client.process() {}
                    if answer == nil {
                        _ = Readiness.wait(for: [server.descriptor, client.descriptor], milliseconds: 100)
                    }
                }
            }
        }

        /// Gives the server a name that the client can call.
        func requestName() throws {
            _ = try call(server, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName")
            {
                message throws(BusError) in
                try message.append(name)
                try message.append(UInt32(0))
            }
        }
    }

    private static func echo() -> BusInterface {
        BusInterface(
            name: "io.example.Echo",
            properties: [
                BusProperty(name: "Level", type: "n") { message throws(BusError) in try message.append(Int16(-61)) }
            ],
            methods: [
                "Echo": { call, answer throws(BusError) in
                    try answer.append(try call.readString())
                    try answer.append(path: try call.readPath())
                    try answer.append(try call.readBool())
                    try answer.append(try call.readUInt8())
                    try answer.append(try call.readInt16())
                    try answer.append(try call.readUInt16())
                    try answer.append(try call.readUInt32())
                    try answer.append(try call.readBytes())
                },
                "Fail": { _, _ throws(BusError) in throw BusError("io.example.Broken", "it is broken") },
            ])
    }

    @Test("Values of each type return unchanged")
    func values() throws {
        try PrivateBus.with { bus in
            let line = try Line(bus)
            let object = try BusObject(on: line.server, at: "/echo", [Self.echo()])
            try line.requestName()
            let answer = try line.call(line.client, line.name, object.path, "io.example.Echo", "Echo") {
                message throws(BusError) in
                try message.append("Grüße")
                try message.append(path: "/a/b")
                try message.append(true)
                try message.append(UInt8(200))
                try message.append(Int16(-127))
                try message.append(UInt16(0x004C))
                try message.append(UInt32.max)
                try message.append([UInt8]([0, 1, 255]))
            }.get()
            #expect(try answer.readString() == "Grüße")
            #expect(try answer.readPath() == "/a/b")
            #expect(try answer.readBool())
            #expect(try answer.readUInt8() == 200)
            #expect(try answer.readInt16() == -127)
            #expect(try answer.readUInt16() == 0x004C)
            #expect(try answer.readUInt32() == .max)
            #expect(try answer.readBytes() == [0, 1, 255])
            #expect(throws: BusError.self) { try answer.readString() }
        }
    }

    @Test("An invalid call is answered with the error's name")
    func errors() throws {
        try PrivateBus.with { bus in
            let line = try Line(bus)
            let object = try BusObject(on: line.server, at: "/echo", [Self.echo()])
            try line.requestName()
            func error(_ interface: String, _ method: String) throws -> BusError? {
                switch try line.call(line.client, line.name, object.path, interface, method) {
                case .success: nil
                case .failure(let error): error
                }
            }
            #expect(try error("io.example.Echo", "Fail") == BusError("io.example.Broken", "it is broken"))
            #expect(try error("io.example.Echo", "Other")?.name == "org.freedesktop.DBus.Error.UnknownMethod")
            #expect(try error("io.example.Other", "Echo")?.name == "org.freedesktop.DBus.Error.UnknownInterface")
            // A string is missing.
            #expect(try error("io.example.Echo", "Echo") != nil)
        }
    }

    @Test("An object implements the standard interfaces")
    func standardInterfaces() throws {
        try PrivateBus.with { bus in
            let line = try Line(bus)
            let child = try BusObject(on: line.server, at: "/root/child", [Self.echo()])
            let root = try BusObject(on: line.server, at: "/root", []) { [child] }
            try line.requestName()
            let managed = try line.call(
                line.client, line.name, root.path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"
            ).get()
            var paths: [String] = []
            try managed.readArray(of: "{oa{sa{sv}}}") { () throws(BusError) in
                try managed.readEntry("oa{sa{sv}}") { () throws(BusError) in
                    paths.append(try managed.readPath())
                    try managed.skip("a{sa{sv}}")
                }
            }
            #expect(paths == ["/root/child"])
            let level = try line.call(line.client, line.name, child.path, "org.freedesktop.DBus.Properties", "Get") {
                message throws(BusError) in
                try message.append("io.example.Echo")
                try message.append("Level")
            }.get()
            let value = try level.readVariant("n") { () throws(BusError) in try level.readInt16() }
            #expect(value == -61)
            let text = try line.call(
                line.client, line.name, child.path, "org.freedesktop.DBus.Introspectable", "Introspect"
            ).get()
            #expect(try text.readString().contains("<property name=\"Level\" type=\"n\" access=\"read\"/>"))
        }
    }

    @Test("An answer to a dropped call is not delivered")
    func droppedCall() throws {
        try PrivateBus.with { bus in
            let line = try Line(bus)
            let object = try BusObject(on: line.server, at: "/echo", [Self.echo()])
            try line.requestName()
            var isAnswered = false
            var slot: BusSlot? = try line.client.call(line.name, object.path, "io.example.Echo", "Fail") { _ in
                isAnswered = true
            }
            #expect(slot != nil)
            slot = nil
            _ = try line.call(line.client, line.name, object.path, "io.example.Echo", "Fail")
            #expect(!isAnswered)
        }
    }
}

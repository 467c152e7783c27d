import CSystemBus

/// A message of the bus, retained while this object exists.
///
/// Reading continues at the current position; appending adds to the end.
final class BusMessage {
    let functions: UnsafePointer<beacon_bus_functions>
    let message: OpaquePointer

    /// Retains a message that has other owners too.
    init(keeping message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = functions.pointee.message_ref(message)
    }

    /// Takes ownership of a newly created message.
    init(taking message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = message
    }

    deinit { _ = functions.pointee.message_unref(message) }

    /// The object that the message is about.
    var path: String { functions.pointee.message_get_path(message).map { String(cString: $0) } ?? "" }

    /// The interface that the member belongs to.
    var interface: String { functions.pointee.message_get_interface(message).map { String(cString: $0) } ?? "" }

    /// The name of the called method or of the signal.
    var member: String { functions.pointee.message_get_member(message).map { String(cString: $0) } ?? "" }

    /// The unique name of the sender.
    var sender: String { functions.pointee.message_get_sender(message).map { String(cString: $0) } ?? "" }

    /// The error, if the message is one.
    var error: BusError? { functions.pointee.message_get_error(message).map { BusError($0.pointee) } }

    /// Returns an empty answer to this call.
    func makeAnswer() throws(BusError) -> BusMessage {
        var answer: OpaquePointer?
        try functions.pointee.message_new_method_return(message, &answer).checked()
        guard let answer else { throw BusError("", "no answer could be made") }
        return BusMessage(taking: answer, functions)
    }

    /// Returns an error as the answer to this call.
    func makeRefusal(_ error: BusError) throws(BusError) -> BusMessage {
        // The bus disconnects a process that sends an error without a valid name. Errors of the library have none.
        let isNamed = error.name.contains(".") && error.number == nil
        var answer: OpaquePointer?
        let status = (isNamed ? error.name : "org.freedesktop.DBus.Error.InvalidArgs").withCString { name in
            error.message.withCString { text in
                var reason = sd_bus_error(name: name, message: text, needs_free: 0)
                return functions.pointee.message_new_method_error(message, &answer, &reason)
            }
        }
        try status.checked()
        guard let answer else { throw BusError("", "no answer could be made") }
        return BusMessage(taking: answer, functions)
    }

    /// Sends the message to its destination.
    func send() throws(BusError) {
        try functions.pointee.send(nil, message, nil).checked()
    }
}

/// Reading. A value of another type than requested is an error, and so is the end of the message.
extension BusMessage {
    /// Reads a string.
    func readString() throws(BusError) -> String { try readText(type: "s") }

    /// Reads the path of an object.
    func readPath() throws(BusError) -> String { try readText(type: "o") }

    /// Reads a Boolean value, which is transmitted as 32 bits.
    func readBool() throws(BusError) -> Bool { try readNumber(Int32(0), type: "b") != 0 }

    /// Reads a byte.
    func readUInt8() throws(BusError) -> UInt8 { try readNumber(0, type: "y") }

    /// Reads a signed 16-bit number.
    func readInt16() throws(BusError) -> Int16 { try readNumber(0, type: "n") }

    /// Reads an unsigned 16-bit number.
    func readUInt16() throws(BusError) -> UInt16 { try readNumber(0, type: "q") }

    /// Reads an unsigned 32-bit number.
    func readUInt32() throws(BusError) -> UInt32 { try readNumber(0, type: "u") }

    /// Reads an array of bytes.
    func readBytes() throws(BusError) -> [UInt8] {
        var bytes: UnsafeRawPointer?
        var count = 0
        try functions.pointee.message_read_array(message, Character("y").code, &bytes, &count).checked()
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Reads an array: calls `body` once for each element. `body` must read or skip the element.
    func readArray(of element: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("a", element) else { throw BusError("", "an array of \(element) is missing") }
        while try peek() != nil { try body() }
        try leave()
    }

    /// Reads a dictionary with strings as keys and values of any type: calls `body` for each key. `body` must read or
    /// skip the value.
    func readProperties(_ body: (String) throws(BusError) -> Void) throws(BusError) {
        try readArray(of: "{sv}") { () throws(BusError) in
            try readEntry("sv") { () throws(BusError) in try body(try readString()) }
        }
    }

    /// Reads an entry of a dictionary with this key and value: calls `body`, which must read both.
    func readEntry(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("e", contents) else { throw BusError("", "an entry of \(contents) is missing") }
        try body()
        try leave()
    }

    /// Reads a structure of these members: calls `body`, which must read them all.
    func readStructure(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("r", contents) else { throw BusError("", "a structure of \(contents) is missing") }
        try body()
        try leave()
    }

    /// Reads a value of any type: calls `body` if it is of type `contents`, otherwise skips it.
    ///
    /// - Returns: nil if it is of another type.
    func readVariant<Value>(_ contents: String, _ body: () throws(BusError) -> Value) throws(BusError) -> Value? {
        guard let next = try peek(), next.type == Character("v").code, next.contents == contents else {
            try skip("v")
            return nil
        }
        _ = try enter("v", contents)
        let value = try body()
        try leave()
        return value
    }

    /// Skips values of these types.
    func skip(_ types: String) throws(BusError) {
        try functions.pointee.message_skip(message, types).checked()
    }

    /// Returns the type of the next value, or nil at the end of a container.
    private func peek() throws(BusError) -> (type: CChar, contents: String)? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try functions.pointee.message_peek_type(message, &type, &contents).checked() > 0 else { return nil }
        return (type, contents.map { String(cString: $0) } ?? "")
    }

    private func readText(type: Character) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try readBasic(type, &text)
        guard let text else { throw BusError("", "a text is missing") }
        return String(cString: text)
    }

    private func readNumber<Number: BitwiseCopyable>(_ initial: Number, type: Character) throws(BusError) -> Number {
        var number = initial
        try readBasic(type, &number)
        return number
    }

    private func readBasic(_ type: Character, _ place: UnsafeMutableRawPointer) throws(BusError) {
        guard try functions.pointee.message_read_basic(message, type.code, place).checked() > 0 else {
            throw BusError("", "a value of type \(type) is missing")
        }
    }

    private func enter(_ type: Character, _ contents: String) throws(BusError) -> Bool {
        try functions.pointee.message_enter_container(message, type.code, contents).checked() > 0
    }

    private func leave() throws(BusError) {
        try functions.pointee.message_exit_container(message).checked()
    }
}

/// Writing.
extension BusMessage {
    /// Appends a string.
    func append(_ text: String) throws(BusError) { try appendText(text, type: "s") }

    /// Appends the path of an object.
    func append(path: String) throws(BusError) { try appendText(path, type: "o") }

    /// Appends a Boolean value, which is transmitted as 32 bits.
    func append(_ value: Bool) throws(BusError) { try appendNumber(Int32(value ? 1 : 0), type: "b") }

    /// Appends a byte.
    func append(_ value: UInt8) throws(BusError) { try appendNumber(value, type: "y") }

    /// Appends a signed 16-bit number.
    func append(_ value: Int16) throws(BusError) { try appendNumber(value, type: "n") }

    /// Appends an unsigned 16-bit number.
    func append(_ value: UInt16) throws(BusError) { try appendNumber(value, type: "q") }

    /// Appends an unsigned 32-bit number.
    func append(_ value: UInt32) throws(BusError) { try appendNumber(value, type: "u") }

    /// Appends an array of bytes.
    func append(_ bytes: [UInt8]) throws(BusError) {
        let status = bytes.withUnsafeBytes {
            functions.pointee.message_append_array(message, Character("y").code, $0.baseAddress, $0.count)
        }
        try status.checked()
    }

    /// Appends an array, whose elements `body` appends.
    func appendArray(of element: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try append(container: "a", element, body)
    }

    /// Appends an entry of a dictionary, whose key and value `body` appends.
    func appendEntry(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try append(container: "e", contents, body)
    }

    /// Appends a structure, whose members `body` appends.
    func appendStructure(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try append(container: "r", contents, body)
    }

    /// Appends a value with its type; `body` appends the value.
    func appendVariant(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try append(container: "v", contents, body)
    }

    private func append(
        container type: Character, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try functions.pointee.message_open_container(message, type.code, contents).checked()
        try body()
        try functions.pointee.message_close_container(message).checked()
    }

    private func appendText(_ text: String, type: Character) throws(BusError) {
        try functions.pointee.message_append_basic(message, type.code, text).checked()
    }

    private func appendNumber<Number: BitwiseCopyable>(_ value: Number, type: Character) throws(BusError) {
        let status = withUnsafeBytes(of: value) { bytes in
            // A number has at least one byte, so there is an address.
            bytes.baseAddress.map { functions.pointee.message_append_basic(message, type.code, $0) } ?? 0
        }
        try status.checked()
    }
}

extension Character {
    /// The library's code of a type: its ASCII character.
    var code: CChar { CChar(asciiValue ?? 0) }
}

import CSystemBus

/// A message of the bus, for as long as it is kept.
///
/// Reading goes on where it stopped; what is appended comes behind what is there. The two are in files of their own.
final class BusMessage {
    let functions: UnsafePointer<beacon_bus_functions>
    let message: OpaquePointer

    /// Retains a message that others hold too.
    init(keeping message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = functions.pointee.message_ref(message)
    }

    /// Takes ownership of a message that was just made.
    init(taking message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = message
    }

    deinit { _ = functions.pointee.message_unref(message) }

    /// The object that it is about.
    var path: String { functions.pointee.message_get_path(message).map { String(cString: $0) } ?? "" }

    /// The interface that the member belongs to.
    var interface: String { functions.pointee.message_get_interface(message).map { String(cString: $0) } ?? "" }

    /// The method that is called, or the signal.
    var member: String { functions.pointee.message_get_member(message).map { String(cString: $0) } ?? "" }

    /// The unique name of the sender.
    var sender: String { functions.pointee.message_get_sender(message).map { String(cString: $0) } ?? "" }

    /// The error that it is, if it is one.
    var error: BusError? { functions.pointee.message_get_error(message).map { BusError($0.pointee) } }

    /// An empty answer to this call.
    func makeAnswer() throws(BusError) -> BusMessage {
        var answer: OpaquePointer?
        try functions.pointee.message_new_method_return(message, &answer).checked()
        guard let answer else { throw BusError("", "no answer could be made") }
        return BusMessage(taking: answer, functions)
    }

    /// A refusal of this call.
    func makeRefusal(_ error: BusError) throws(BusError) -> BusMessage {
        // A bus disconnects a process that sends an error without a proper name. What could not be read has none.
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

/// Reading. A value that is not of the type asked for is an error, and so is the end.
extension BusMessage {
    /// A string.
    func readString() throws(BusError) -> String { try readText(type: "s") }

    /// The path of an object.
    func readPath() throws(BusError) -> String { try readText(type: "o") }

    /// A truth value, which travels as 32 bits.
    func readBool() throws(BusError) -> Bool { try readNumber(Int32(0), type: "b") != 0 }

    /// A byte.
    func readUInt8() throws(BusError) -> UInt8 { try readNumber(0, type: "y") }

    /// A signed number of 16 bits.
    func readInt16() throws(BusError) -> Int16 { try readNumber(0, type: "n") }

    /// An unsigned number of 16 bits.
    func readUInt16() throws(BusError) -> UInt16 { try readNumber(0, type: "q") }

    /// An unsigned number of 32 bits.
    func readUInt32() throws(BusError) -> UInt32 { try readNumber(0, type: "u") }

    /// An array of bytes.
    func readBytes() throws(BusError) -> [UInt8] {
        var bytes: UnsafeRawPointer?
        var count = 0
        try functions.pointee.message_read_array(message, Character("y").code, &bytes, &count).checked()
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// An array: calls `body` once for each element, which `body` has to read or to skip.
    func readArray(of element: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("a", element) else { throw BusError("", "an array of \(element) is missing") }
        while try peek() != nil { try body() }
        try leave()
    }

    /// A dictionary with strings for keys and any values: calls `body` for each key. What `body` does not read of a
    /// value it has to skip.
    func readProperties(_ body: (String) throws(BusError) -> Void) throws(BusError) {
        try readArray(of: "{sv}") { () throws(BusError) in
            try readEntry("sv") { () throws(BusError) in try body(try readString()) }
        }
    }

    /// An entry of a dictionary with this key and value: calls `body`, which has to read both.
    func readEntry(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("e", contents) else { throw BusError("", "an entry of \(contents) is missing") }
        try body()
        try leave()
    }

    /// A structure of these members: calls `body`, which has to read them all.
    func readStructure(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        guard try enter("r", contents) else { throw BusError("", "a structure of \(contents) is missing") }
        try body()
        try leave()
    }

    /// A value of any type: calls `body` where it is of type `contents`, and steps over it elsewhere.
    ///
    /// - Returns: nil where it is of another type.
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

    /// Steps over values of these types.
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

    /// Appends a truth value, which travels as 32 bits.
    func append(_ value: Bool) throws(BusError) { try appendNumber(Int32(value ? 1 : 0), type: "b") }

    /// Appends a byte.
    func append(_ value: UInt8) throws(BusError) { try appendNumber(value, type: "y") }

    /// Appends a signed number of 16 bits.
    func append(_ value: Int16) throws(BusError) { try appendNumber(value, type: "n") }

    /// Appends an unsigned number of 16 bits.
    func append(_ value: UInt16) throws(BusError) { try appendNumber(value, type: "q") }

    /// Appends an unsigned number of 32 bits.
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

    /// Appends a value that says its type, which `body` appends.
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

import CSystemBus

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

    /// A dictionary with strings for keys and any values: calls `body` for each key. What `body` does not read of a value
    /// it has to skip.
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

    /// What comes next, or nil at the end of a container.
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

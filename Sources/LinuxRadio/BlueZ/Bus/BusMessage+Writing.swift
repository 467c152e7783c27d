import CSystemBus

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
    /// How the library names a type: by its ASCII character.
    var code: CChar { CChar(bitPattern: asciiValue ?? 0) }
}

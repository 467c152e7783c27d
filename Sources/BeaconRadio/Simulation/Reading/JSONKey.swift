/// A key of a JSON object, whatever it says.
struct JSONKey: CodingKey {
    let stringValue: String

    init(stringValue: String) { self.stringValue = stringValue }

    // Objects of JSON have texts for keys.
    var intValue: Int? { nil }

    init?(intValue: Int) { nil }
}

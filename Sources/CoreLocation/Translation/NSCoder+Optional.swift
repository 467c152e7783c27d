extension NSCoder {
    /// The object of a key that may be missing.
    ///
    /// Outside Apple's systems Foundation takes a missing key for damage and gives up the whole archive.
    func decodeObjectIfPresent<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }
}

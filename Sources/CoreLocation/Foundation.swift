@_exported public import Foundation

#if Combine
    @_exported public import BeaconCombine
#endif

// Core Location's header includes Foundation, and much code never imports it itself. Foundation includes Dispatch and,
// in an app that has it, Combine.

extension NSDictionary {
    /// Creates a dictionary with the entries of another.
    ///
    /// Foundation has this initializer on Apple's systems but not on Linux. Code that advertises uses it with the
    /// result of `peripheralData(withMeasuredPower:)`.
    public convenience init(dictionary otherDictionary: NSDictionary) {
        var entries: [AnyHashable: Any] = [:]
        for (key, value) in otherDictionary {
            if let key = key as? AnyHashable { entries[key] = value }
        }
        self.init(dictionary: entries)
    }
}

extension NSCoder {
    /// Returns the object for a key that may be missing.
    ///
    /// Outside Apple's systems, Foundation treats a missing key as damage and rejects the whole archive.
    func decodeObjectIfPresent<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }
}

extension Double {
    /// Returns the number with a fixed number of decimals, the same in every locale, for descriptions.
    func text(places: Int, signed: Bool = false) -> String {
        String(format: signed ? "%+.\(places)f" : "%.\(places)f", self)
    }
}

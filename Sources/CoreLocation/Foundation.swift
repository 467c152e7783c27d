@_exported public import Foundation

#if Combine
    @_exported public import BeaconCombine
#endif

// Core Location's header brings Foundation with it, and much code never imports it itself. Foundation brings Dispatch
// and, in an app that has it, Combine.

extension NSDictionary {
    /// Makes a dictionary with the entries of another.
    ///
    /// Apple's Foundation has it and Linux' has not, and code that advertises puts what
    /// `peripheralData(withMeasuredPower:)` gives through it.
    public convenience init(dictionary otherDictionary: NSDictionary) {
        var entries: [AnyHashable: Any] = [:]
        for (key, value) in otherDictionary {
            if let key = key as? AnyHashable { entries[key] = value }
        }
        self.init(dictionary: entries)
    }
}

extension NSCoder {
    /// Returns the object of a key that may be missing.
    ///
    /// Outside Apple's systems Foundation treats a missing key as damage and rejects the whole archive.
    func decodeObjectIfPresent<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }
}

extension Double {
    /// Returns the number with so many decimals, as descriptions show it in every locale.
    func text(places: Int, signed: Bool = false) -> String {
        String(format: signed ? "%+.\(places)f" : "%.\(places)f", self)
    }
}

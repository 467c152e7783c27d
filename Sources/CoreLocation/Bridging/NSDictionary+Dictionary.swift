import Foundation

extension NSDictionary {
    /// Makes a dictionary with the entries of another.
    ///
    /// Apple's Foundation has it and Linux' has not, and code that advertises puts what `peripheralData(withMeasuredPower:)`
    /// gives through it.
    public convenience init(dictionary otherDictionary: NSDictionary) {
        var entries: [AnyHashable: Any] = [:]
        for (key, value) in otherDictionary {
            if let key = key as? AnyHashable { entries[key] = value }
        }
        self.init(dictionary: entries)
    }
}

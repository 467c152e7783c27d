public import Foundation

/// Where the monitors of an application are kept across launches, each under its name.
public protocol MonitorStore: Sendable {
    /// What was last written under a name; nil if nothing was.
    ///
    /// - Throws: ``ServiceError`` if it cannot be read.
    func load(_ name: String) throws(ServiceError) -> Data?

    /// Replaces what was written under a name.
    ///
    /// - Throws: ``ServiceError`` if it cannot be written.
    func save(_ content: Data, as name: String) throws(ServiceError)
}

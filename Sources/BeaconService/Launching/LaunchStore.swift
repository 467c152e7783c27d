/// Where an application says how it is started when it does not run, and finds what happened meanwhile.
public protocol LaunchStore: Sendable {
    /// Says that the application runs, until the process ends, and gives what happened while it did not.
    ///
    /// - Throws: ``ServiceError`` if that cannot be read.
    func begin() throws(ServiceError) -> [WaitingChange]

    /// The application was told what had happened.
    ///
    /// - Throws: ``ServiceError`` if that cannot be written.
    func clear() throws(ServiceError)

    /// The application wants to be started for its regions, as it was started this time.
    ///
    /// - Throws: ``ServiceError`` if that cannot be written.
    func register() throws(ServiceError)

    /// The application does not want to be started any more.
    ///
    /// - Throws: ``ServiceError`` if that cannot be written.
    func unregister() throws(ServiceError)
}

/// Where events go.
public protocol KumulosEventSink: Sendable {
    /// Takes an event. When it returns, the event is kept, and survives the end of the process.
    ///
    /// - Throws: if the event could not be kept.
    func record(_ event: KumulosEvent) throws
}

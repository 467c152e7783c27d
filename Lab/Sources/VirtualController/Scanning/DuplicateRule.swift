/// What a controller takes for a duplicate where the host has switched the duplicate filter on.
///
/// The specification leaves it to the controller (Core Specification 5.3, Vol 6, Part B, 4.4.3.5), and they differ.
public enum DuplicateRule: String, Hashable, Sendable, CaseIterable {
    /// Each device is reported once in a scan.
    case device
    /// A device is reported again with each other signal strength.
    case signal
    /// A device is reported again with each other advert.
    case data
    /// Nothing is: the filter does nothing.
    case never
}

/// The rule by which a controller's duplicate filter recognizes duplicates.
///
/// The specification leaves it to the controller (Core Specification 5.3, Vol 6, Part B, 4.4.3.5), and controllers
/// differ.
public enum DuplicateRule: String, Hashable, Sendable, CaseIterable {
    /// Each device is reported once per scan.
    case device
    /// A device is reported again with each different signal strength.
    case signal
    /// A device is reported again with each different advert.
    case data
    /// Nothing is a duplicate: the filter has no effect.
    case never
}

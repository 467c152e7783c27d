/// The two kinds of commands for advertising and scanning, which must not be mixed (Core Specification 5.3, Vol 4, Part
/// E, 3.1.1).
enum AdvertisingCommands: Sendable {
    case legacy
    case extended
}

import BeaconConfiguration

/// The settings of the journal.
package struct JournalSettings: Hashable, Sendable {
    /// The most bytes of all segments.
    package var size = 256 << 20
    /// The age at which a segment is deleted.
    package var age = Duration.seconds(7 * 86_400)
    /// Whether adverts of a region with only a UUID are kept: those of every stranger who carries that UUID.
    package var includesStrangers = false

    /// Creates the default settings.
    package init() {}

    /// The keys of the journal.
    static let grammar = Grammar<Self>(
        JournalSettings(),
        [
            Setting(
                "maximum-size", \.size, .bytes((32 << 20)...(1 << 40)),
                "The most bytes on the disk; beyond that, the oldest are deleted."),
            Setting(
                "maximum-age", \.age, .duration(.seconds(3600)...(.seconds(366 * 86_400))),
                "The age at which it is deleted."),
            Setting(
                "strangers", \.includesStrangers, .boolean,
                "Keeps adverts of regions with only a UUID, too. They show when each stranger who carries this UUID was here."
            ),
        ])
}

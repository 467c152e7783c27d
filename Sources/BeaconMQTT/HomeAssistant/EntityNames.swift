/// A language of the entities' names in Home Assistant.
@nonexhaustive
public enum HomeAssistantLanguage: String, CaseIterable, Hashable, Sendable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"

    /// The names in this language.
    var names: EntityNames {
        switch self {
        case .english: .english
        case .german: .german
        }
    }
}

/// The names of the entities without a telling device class. Home Assistant names the others after their device class,
/// in its language: distance, signal strength, connectivity and problem.
///
/// To add a language, add a case to ``HomeAssistantLanguage`` with the language's code, and a table here. Ids do not
/// depend on these names.
struct EntityNames: Hashable, Sendable {
    /// A beacon's proximity: immediate, near or far.
    var proximity: String
    /// The receiver that is nearest to a beacon.
    var nearestReceiver: String
    /// The place of a beacon.
    var place: String
    /// The tracker of a beacon that a person carries.
    var tracker: String
    /// The enters and exits of a beacon or a region.
    var event: String
    /// The number of beacons in a place.
    var beacons: String
    /// The adverts per minute of a receiver, or per second of the gateway.
    var adverts: String
    /// The number of events that wait for a destination.
    var waitingEvents: String
    /// The unit of the number of events.
    var events: String

    static let english = EntityNames(
        proximity: "Proximity",
        nearestReceiver: "Nearest receiver",
        place: "Place",
        tracker: "Tracker",
        event: "Event",
        beacons: "Beacons",
        adverts: "Adverts",
        waitingEvents: "Waiting events",
        events: "events")

    static let german = EntityNames(
        proximity: "Nähe",
        nearestReceiver: "Nächster Empfänger",
        place: "Ort",
        tracker: "Tracker",
        event: "Ereignis",
        beacons: "Beacons",
        adverts: "Bluetooth-Pakete",
        waitingEvents: "Wartende Ereignisse",
        events: "Ereignisse")
}

/// What the retained message of ``MQTTOptions/availabilityTopic`` says. The words are Home Assistant's defaults.
enum Availability: String {
    case online
    case offline
}

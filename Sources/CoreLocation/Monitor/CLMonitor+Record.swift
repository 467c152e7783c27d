extension CLMonitor {
    /// What a monitor keeps about a condition.
    public struct Record: Sendable {
        /// The last event that the app has dealt with. While it deals with one, the record still has the one before.
        public let lastEvent: CLMonitor.Event

        /// What is watched.
        public let condition: any CLCondition

        /// A record from its parts.
        init(lastEvent: CLMonitor.Event, condition: any CLCondition) {
            self.lastEvent = lastEvent
            self.condition = condition
        }
    }
}

extension CLMonitor {
    /// The events of a monitor.
    public struct Events: AsyncSequence, Sendable {
        /// What it gives.
        public typealias Element = CLMonitor.Event

        private let tie: MonitorTie

        init(_ tie: MonitorTie) { self.tie = tie }

        /// Gives one event after another.
        ///
        /// An event has been dealt with when the next one is asked for, or when the iterator goes.
        public struct Iterator: AsyncIteratorProtocol {
            private let reader: MonitorReader

            init(_ tie: MonitorTie) { reader = MonitorReader(tie) }

            /// The next event, as soon as there is one; nil once the task is cancelled. Nothing is thrown at present.
            public mutating func next() async throws -> CLMonitor.Events.Element? { await reader.next() }
        }

        /// Begins to wait for events.
        public func makeAsyncIterator() -> Iterator { Iterator(tie) }
    }
}

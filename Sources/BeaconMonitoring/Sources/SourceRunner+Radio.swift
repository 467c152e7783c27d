package import BeaconRadio
import BeaconSupport

/// A source on its own thread, as the radio of a center.
extension SourceRunner: Radio, Advertiser {
    /// The runner itself if its source can send; recordings cannot.
    package var advertiser: (any Advertiser & Sendable)? { specification.canSend ? self : nil }

    /// The source's title, for people.
    package var title: String { specification.title }

    /// True for receivers in the network.
    package var hasReceivers: Bool { specification.hasReceivers }

    /// Powered off after a simulation, whose air has ended. After a capture, an app keeps its state.
    package var stateAtEnd: RadioState? {
        specification.isRadio ? nil : specification.isSimulation ? .poweredOff : .poweredOn
    }

    /// Starts the thread, and returns the events of the source. The source is stopped when the iteration ends.
    package func events() -> Events {
        countAsHeardNow()
        start()
        return Events(runner: self)
    }

    /// The events of a source, for a single reader.
    package struct Events: AsyncSequence, Sendable {
        fileprivate let runner: SourceRunner

        package func makeAsyncIterator() -> Iterator { Iterator(runner) }

        package struct Iterator: AsyncIteratorProtocol {
            private var events: BoundedChannel<SourceEvent>.AsyncIterator
            private let end: End

            /// Stops the source when it is deallocated, at the end of the iteration.
            private final class End: Sendable {
                let runner: SourceRunner
                init(_ runner: SourceRunner) { self.runner = runner }
                deinit {
                    runner.stop()
                    // The thread may be waiting for capacity, and there is no reader left.
                    runner.channel.finish()
                }
            }

            fileprivate init(_ runner: SourceRunner) {
                events = runner.channel.makeAsyncIterator()
                end = End(runner)
            }

            package mutating func next() async -> SourceEvent? { await events.next() }
        }
    }
}

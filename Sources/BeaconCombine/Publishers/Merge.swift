#if Combine || Gateway
    public import OpenCombine

    // OpenCombine has neither of these, so they are built from operators that it has.

    extension Publishers {
        /// A publisher of the values of several publishers, as they arrive.
        public struct MergeMany<Upstream: Publisher>: Publisher {
            /// The type of the values.
            public typealias Output = Upstream.Output
            /// The type of the failures.
            public typealias Failure = Upstream.Failure

            /// The publishers.
            public let publishers: [Upstream]

            /// Merges publishers.
            public init(_ publishers: Upstream...) { self.publishers = publishers }

            /// Merges publishers.
            public init(_ publishers: some Swift.Sequence<Upstream>) { self.publishers = Array(publishers) }

            /// Starts to publish to a subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == Failure {
                publishers.publisher.setFailureType(to: Failure.self).flatMap { $0 }.receive(subscriber: subscriber)
            }

            /// Merges another publisher.
            public func merge(with other: Upstream) -> MergeMany<Upstream> { MergeMany(publishers + [other]) }
        }
    }

    extension Publisher {
        /// Publishes the values of this publisher and another one, as they arrive.
        public func merge<Other: Publisher<Output, Failure>>(
            with other: Other
        ) -> Publishers.MergeMany<AnyPublisher<Output, Failure>> {
            Publishers.MergeMany(eraseToAnyPublisher(), other.eraseToAnyPublisher())
        }

        /// Publishes the values of this publisher and two others, as they arrive.
        public func merge<B: Publisher<Output, Failure>, C: Publisher<Output, Failure>>(
            with second: B, _ third: C
        ) -> Publishers.MergeMany<AnyPublisher<Output, Failure>> {
            Publishers.MergeMany(eraseToAnyPublisher(), second.eraseToAnyPublisher(), third.eraseToAnyPublisher())
        }

        /// Publishes the values of this publisher and three others, as they arrive.
        public func merge<
            B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>
        >(
            with second: B, _ third: C, _ fourth: D
        ) -> Publishers.MergeMany<AnyPublisher<Output, Failure>> {
            Publishers.MergeMany(
                eraseToAnyPublisher(), second.eraseToAnyPublisher(), third.eraseToAnyPublisher(),
                fourth.eraseToAnyPublisher())
        }
    }
#endif

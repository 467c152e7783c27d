#if Combine || Gateway
    public import OpenCombine

    extension Publishers {
        /// A publisher of the newest values of two publishers, once both have published one.
        public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
            /// The type of the values.
            public typealias Output = (A.Output, B.Output)
            /// The type of the failures.
            public typealias Failure = A.Failure

            /// The first publisher.
            public let a: A

            /// The second publisher.
            public let b: B

            /// Combines publishers.
            public init(_ a: A, _ b: B) {
                self.a = a
                self.b = b
            }

            private enum Change {
                case first(A.Output)
                case second(B.Output)
            }

            /// Starts to publish to a subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == Failure {
                let newest: (A.Output?, B.Output?) = (nil, nil)
                a.map(Change.first).merge(with: b.map(Change.second))
                    .scan(newest) { newest, change in
                        switch change {
                        case .first(let value): (value, newest.1)
                        case .second(let value): (newest.0, value)
                        }
                    }
                    .compactMap { first, second in first.flatMap { first in second.map { (first, $0) } } }
                    .receive(subscriber: subscriber)
            }
        }
    }

    extension Publisher {
        /// Publishes the newest values of this publisher and another one.
        public func combineLatest<B: Publisher>(
            _ other: B
        ) -> Publishers.CombineLatest<Self, B> where B.Failure == Failure { Publishers.CombineLatest(self, other) }

        /// Publishes a combination of the newest values of this publisher and another one.
        public func combineLatest<B: Publisher, Result>(
            _ other: B, _ transform: @escaping (Output, B.Output) -> Result
        ) -> Publishers.Map<Publishers.CombineLatest<Self, B>, Result> where B.Failure == Failure {
            combineLatest(other).map { transform($0, $1) }
        }

        /// Publishes the newest values of this publisher and two others.
        public func combineLatest<B: Publisher, C: Publisher>(
            _ second: B, _ third: C
        ) -> AnyPublisher<(Output, B.Output, C.Output), Failure> where B.Failure == Failure, C.Failure == Failure {
            combineLatest(second).combineLatest(third).map { ($0.0, $0.1, $1) }.eraseToAnyPublisher()
        }

        /// Publishes a combination of the newest values of this publisher and two others.
        public func combineLatest<B: Publisher, C: Publisher, Result>(
            _ second: B, _ third: C, _ transform: @escaping (Output, B.Output, C.Output) -> Result
        ) -> AnyPublisher<Result, Failure> where B.Failure == Failure, C.Failure == Failure {
            combineLatest(second, third).map { transform($0, $1, $2) }.eraseToAnyPublisher()
        }

        /// Publishes the newest values of this publisher and three others.
        public func combineLatest<B: Publisher, C: Publisher, D: Publisher>(
            _ second: B, _ third: C, _ fourth: D
        ) -> AnyPublisher<(Output, B.Output, C.Output, D.Output), Failure>
        where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
            combineLatest(second, third).combineLatest(fourth).map { ($0.0, $0.1, $0.2, $1) }.eraseToAnyPublisher()
        }
    }
#endif

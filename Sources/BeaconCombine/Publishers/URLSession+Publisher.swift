#if Combine || Gateway
    public import Foundation
    public import FoundationNetworking
    public import OpenCombine

    extension URLSession {
        /// A publisher of the response to a request, which is sent once per subscription.
        public struct DataTaskPublisher: Publisher {
            /// The type of the values.
            public typealias Output = (data: Data, response: URLResponse)
            /// The type of the failures.
            public typealias Failure = URLError

            /// The request.
            public let request: URLRequest

            /// The session.
            public let session: URLSession

            /// Creates a publisher.
            public init(request: URLRequest, session: URLSession) {
                self.request = request
                self.session = session
            }

            /// Sends the request for a subscriber. Cancelling the subscription cancels the request.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == URLError {
                var task: URLSessionDataTask?
                // Keeps the response until the subscriber requests it.
                let answer = Future<Output, URLError> { promise in
                    let promise = HandedOver(promise)
                    task = session.dataTask(with: request) { data, response, error in
                        if let response, error == nil {
                            promise.value(.success((data ?? Data(), response)))
                        } else {
                            promise.value(.failure(error as? URLError ?? URLError(.unknown)))
                        }
                    }
                }
                let started = task
                answer.handleEvents(
                    receiveCancel: { started?.cancel() }, receiveRequest: { _ in started?.resume() }
                ).receive(subscriber: subscriber)
            }
        }

        /// Returns a publisher of the response from a URL.
        public func dataTaskPublisher(for url: URL) -> DataTaskPublisher {
            dataTaskPublisher(for: URLRequest(url: url))
        }

        /// Returns a publisher of the response to a request.
        public func dataTaskPublisher(for request: URLRequest) -> DataTaskPublisher {
            DataTaskPublisher(request: request, session: self)
        }
    }
#endif

#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    extension NotificationCenter {
        /// A publisher of notifications, starting with each subscription.
        public struct Publisher: OpenCombine.Publisher {
            /// The type of the values.
            public typealias Output = Notification
            /// The type of the failures.
            public typealias Failure = Never

            /// The center.
            public let center: NotificationCenter

            /// The name of the notifications.
            public let name: Notification.Name

            /// The object that posts the notifications; nil for any object.
            public let object: AnyObject?

            /// Creates a publisher.
            public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
                self.center = center
                self.name = name
                self.object = object
            }

            /// Starts to publish to a subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Notification, Downstream.Failure == Never {
                // Like Apple's, it drops notifications that no subscriber has requested.
                let subject = PassthroughSubject<Notification, Never>()
                let sent = HandedOver(subject)
                let token = center.addObserver(forName: name, object: object, queue: nil) { sent.value.send($0) }
                subject.handleEvents(receiveCancel: { [center] in center.removeObserver(token) })
                    .receive(subscriber: subscriber)
            }
        }

        /// Returns a publisher of the notifications with a name.
        public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
            Publisher(center: self, name: name, object: object)
        }
    }
#endif

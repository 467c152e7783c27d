public import Foundation

/// The text of a deep link's page.
public struct DeepLinkContent: Sendable {
    /// The title.
    public let title: String?
    /// The text.
    public let description: String?
}

/// A deep link. None is ever opened here.
public struct DeepLink {
    /// The address.
    public let url: URL
    /// The text of its page.
    public let content: DeepLinkContent
    /// What goes with it.
    public let data: [AnyHashable: Any?]
}

/// The outcome of looking a deep link up.
public enum DeepLinkResolution {
    /// It could not be looked up.
    case lookupFailed(_ url: URL)
    /// It does not exist.
    case linkNotFound(_ url: URL)
    /// Its time is over.
    case linkExpired(_ url: URL)
    /// It was opened as often as it may be.
    case linkLimitExceeded(_ url: URL)
    /// It was found.
    case linkMatched(_ data: DeepLink)
}

/// The receiver of deep links. Never called here.
public typealias DeepLinkHandler = (DeepLinkResolution) -> Void

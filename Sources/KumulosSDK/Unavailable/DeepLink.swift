public import Foundation

/// The content of a deep link's page.
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
    /// The content of its page.
    public let content: DeepLinkContent
    /// The attached data.
    public let data: [AnyHashable: Any?]
}

/// The outcome of resolving a deep link.
public enum DeepLinkResolution {
    /// The lookup failed.
    case lookupFailed(_ url: URL)
    /// It does not exist.
    case linkNotFound(_ url: URL)
    /// It has expired.
    case linkExpired(_ url: URL)
    /// It was opened too often.
    case linkLimitExceeded(_ url: URL)
    /// It was found.
    case linkMatched(_ data: DeepLink)
}

/// A handler for deep links. Never called here.
public typealias DeepLinkHandler = (DeepLinkResolution) -> Void

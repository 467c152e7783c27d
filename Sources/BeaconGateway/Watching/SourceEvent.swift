import BeaconModel
import BeaconService

/// What the thread of a source has to say.
enum SourceEvent: Sendable {
    /// The source is open, and its session assumes the states that were known.
    case opened

    /// What the session found, in order, and how far it has come.
    case events([SessionEvent], SourceProgress)

    /// Its radio is gone or switched off, and brings itself back. Until then nothing is known.
    case lost(String)

    /// Its radio is back, and the session assumes again what is known.
    case returned

    /// Something that whoever runs the daemon should know.
    case notice(String, isTrouble: Bool)

    /// The source failed. It is tried again after a while, or never.
    case failed(String, retryAfter: Duration?)

    /// The source has come to its end.
    case ended
}

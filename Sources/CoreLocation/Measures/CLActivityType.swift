/// What the user of an app is about to do. Core Location may save power by it; nothing here depends on it.
public enum CLActivityType: Int, Sendable, BitwiseCopyable {
    /// Nothing of what follows.
    case other = 1

    /// Driving along roads.
    case automotiveNavigation = 2

    /// Walking, running, cycling.
    case fitness = 3

    /// Travelling by train, boat and the like.
    case otherNavigation = 4

    /// Flying.
    case airborne = 5
}

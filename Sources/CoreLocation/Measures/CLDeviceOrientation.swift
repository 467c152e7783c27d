/// How a device is held. Headings refer to it; a machine without a compass has no use for it.
public enum CLDeviceOrientation: Int32, Sendable, BitwiseCopyable {
    /// Not known.
    case unknown = 0

    /// Upright.
    case portrait = 1

    /// Upright, top down.
    case portraitUpsideDown = 2

    /// On its side, top to the left.
    case landscapeLeft = 3

    /// On its side, top to the right.
    case landscapeRight = 4

    /// Lying, face up.
    case faceUp = 5

    /// Lying, face down.
    case faceDown = 6
}

/// How exactly an app may learn where it is. With reduced accuracy neither monitoring nor ranging works.
public enum CLAccuracyAuthorization: Int, Sendable, BitwiseCopyable {
    /// As exactly as can be told.
    case fullAccuracy = 0

    /// Roughly.
    case reducedAccuracy = 1
}

/// How fast the time of a source passes.
public enum Pace: Hashable, Sendable {
    /// As fast as the machine can.
    case fastest
    /// So many times as fast as the clock on the wall; above zero.
    case times(Double)
}

/// What is to be done with the power of an adapter.
enum PowerChange: Hashable {
    /// Switch it on.
    case on
    /// Switch it off and on again, which begins with a reset of the controller.
    case cycle
}

/// Whether a condition holds, as far as can be known without building.
enum Truth {
    case no
    case yes
    case unknown

    /// Both.
    static func && (left: Truth, right: Truth) -> Truth {
        if left == .no || right == .no { return .no }
        return left == .yes && right == .yes ? .yes : .unknown
    }

    /// Either.
    static func || (left: Truth, right: Truth) -> Truth {
        !(!left && !right)
    }

    /// The opposite.
    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .no: .yes
        case .yes: .no
        case .unknown: .unknown
        }
    }
}

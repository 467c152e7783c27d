internal import DelegateCheck

/// The names that the files of a module declare.
///
/// Each rule asks them first, so that an app's own type is never taken for a framework's.
@dynamicMemberLookup
struct ModuleNames: Equatable {
    /// The names in each file.
    var files: [DeclaredNames] = [] {
        didSet { all = DeclaredNames(files) }
    }

    /// The modules that the target depends on.
    var modules: Set<String> = []

    private var all = DeclaredNames()

    subscript<Value>(dynamicMember path: KeyPath<DeclaredNames, Value>) -> Value { all[keyPath: path] }
}

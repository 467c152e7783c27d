internal import DelegateCheck

/// The names that the files of a module declare.
///
/// Each rule asks them first, so that an app's own type is never taken for a framework's.
struct ModuleNames: Equatable {
    /// The modules that the target depends on.
    let modules: Set<String>

    /// The names in each file.
    private var files: [FileNames]

    /// The names that Linux compiles, with the empty forms of UIKit's types.
    private(set) var declared: Set<String> = []

    /// The methods that Linux compiles, each as its name and first label.
    private(set) var labeledMethods: Set<String> = []

    /// The labels of the functions of each type, by their base names.
    private(set) var methods: [String: [String: [[String]]]] = [:]

    /// The members that protocols require, and those that are optional.
    private(set) var requirements: Set<String> = []
    private(set) var optionalRequirements: Set<String> = []

    /// The names that Linux does not compile, with the number of their file.
    private(set) var hidden: [String: [(file: Int, name: FileNames.Hidden)]] = [:]

    /// The empty forms that beacon code needs, with the number of the first source that does so.
    private(set) var standIns: [String: (file: Int, framework: AppleModule)] = [:]

    /// The empty forms that exist, and the members that they need.
    private(set) var replacements: Set<String> = []
    private(set) var words: Set<String> = []

    init(_ files: [FileNames], modules: Set<String>) {
        self.files = files
        self.modules = modules
        for (index, file) in files.enumerated() {
            declared.formUnion(file.declared)
            labeledMethods.formUnion(file.labeledMethods)
            requirements.formUnion(file.requirements)
            optionalRequirements.formUnion(file.optionalRequirements)
            words.formUnion(file.words)
            replacements.formUnion(file.replacements)
            for (type, own) in file.methods { methods[type, default: [:]].merge(own) { $0 + $1 } }
            for (name, places) in file.hidden { hidden[name, default: []] += places.map { (index, $0) } }
            for (name, framework) in file.standIns where standIns[name] == nil { standIns[name] = (index, framework) }
        }
        standIns = standIns.filter { !declared.contains($0.key) || replacements.contains($0.key) }
        declared.formUnion(standIns.keys)
    }

    /// Returns the names if one file declares other ones.
    func replacing(_ index: Int, with names: FileNames) -> ModuleNames {
        var files = files
        files[index] = names
        return ModuleNames(files, modules: modules)
    }

    static func == (left: ModuleNames, right: ModuleNames) -> Bool {
        left.files == right.files && left.modules == right.modules
    }
}

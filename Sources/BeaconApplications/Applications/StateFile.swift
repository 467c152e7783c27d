import BeaconSupport
import Foundation

/// A value in a JSON file that all processes of an application share: each change reads, modifies and writes it under
/// the application's lock.
final class StateFile<Value: Codable & Hashable & Sendable>: Sendable {
    private let url: URL
    private let empty: Value
    private let application: ApplicationIdentity
    private let directory: StateDirectory

    /// The newest value that this process read or wrote. It replaces a file that is damaged later.
    private let newest: Locked<Value>

    /// Creates a reference to a file of an application.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - empty: the value of a missing file.
    ///   - application: the owner of the file.
    ///   - directory: the folder of state.
    init(_ url: URL, empty: Value, of application: ApplicationIdentity, in directory: StateDirectory) {
        self.url = url
        self.empty = empty
        self.application = application
        self.directory = directory
        newest = Locked(empty)
    }

    /// Reads the value.
    ///
    /// - Throws: ``StateError`` if the file cannot be read, or is damaged and cannot be set aside.
    func load() throws(StateError) -> Value {
        let value = value(try directory.state(Value.self, in: url, of: application))
        note(value)
        return value
    }

    /// Reads, changes and writes the value under the application's lock. Writes nothing if the value does not change.
    ///
    /// - Parameter change: changes the value on the disk. It must not use the application's state.
    /// - Throws: ``StateError`` if the file cannot be read or written.
    func update(_ change: (inout Value) -> Void) throws(StateError) {
        if !FileManager.default.fileExists(atPath: url.path) {
            // If the change has no effect, no file is created.
            var value = empty
            change(&value)
            if value == empty { return }
        }
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        let content = try directory.state(Value.self, in: url, of: application, isLocked: true)
        let before = self.value(content)
        var after = before
        change(&after)
        if after != before || content.isDamaged { try directory.write(after, to: url) }
        note(after)
    }

    private func value(_ content: StateDirectory.Content<Value>) -> Value {
        switch content {
        case .missing: empty
        case .value(let value): value
        case .damaged: newest.withLock { $0 }
        }
    }

    private func note(_ value: Value) { newest.withLock { $0 = value } }
}

extension Array {
    /// Applies the changes from an old list to a new one to this list, which another process may have changed in the
    /// meantime.
    ///
    /// New elements are added, or replace elements with the same name. Changed elements are replaced, unless another
    /// process has removed them. Elements that are missing from `new` are removed. All other elements stay as they are.
    ///
    /// - Parameters:
    ///   - new: the list that this process wants.
    ///   - old: the list as this process last knew it.
    ///   - name: the unique name of an element in its list.
    package mutating func merge<Name: Hashable>(
        _ new: [Element], replacing old: [Element], by name: (Element) -> Name
    ) where Element: Equatable {
        let earlier = Dictionary(old.map { (name($0), $0) }, uniquingKeysWith: { $1 })
        let names = Set(new.map(name))
        removeAll { earlier[name($0)] != nil && !names.contains(name($0)) }
        for element in new {
            let before = earlier[name(element)]
            guard before != element else { continue }
            if let place = firstIndex(where: { name($0) == name(element) }) {
                self[place] = element
            } else if before == nil {
                append(element)
            }
        }
    }
}

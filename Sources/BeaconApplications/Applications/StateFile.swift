import BeaconSupport
import Foundation

/// A value in a JSON file that all processes of an application share: each change reads, modifies and writes it under
/// the application's lock.
final class StateFile<Value: Codable & Hashable & Sendable>: Sendable {
    private let url: URL
    private let empty: Value
    private let application: ApplicationIdentity
    private let directory: StateDirectory

    /// The newest value that this process read or wrote. It takes the place of a file that is damaged later on.
    private let newest: Locked<Value>

    /// A file of an application.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - empty: the value that stands for a missing file.
    ///   - application: whose file it is.
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
    func load() throws(StateError) -> Value { try read(isLocked: false) }

    /// Reads the value, changes it and writes it, while no other process of the application does. Nothing is written
    /// where nothing is changed.
    ///
    /// - Parameters:
    ///   - isLocked: whether the caller holds the application's lock.
    ///   - change: changes the value that is on the disk now. It must not use the application's state.
    /// - Throws: ``StateError`` if the file cannot be read or written.
    func update(isLocked: Bool = false, _ change: (inout Value) -> Void) throws(StateError) {
        if !isLocked, !FileManager.default.fileExists(atPath: url.path) {
            // A change that comes to nothing leaves no trace.
            var value = empty
            change(&value)
            if value == empty { return }
        }
        let lock = isLocked ? nil : try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        let content = try directory.state(Value.self, in: url, of: application, isLocked: true)
        let before = self.value(content)
        var after = before
        change(&after)
        if after != before || content.isDamaged { try directory.write(after, to: url) }
        note(after)
    }

    private func read(isLocked: Bool) throws(StateError) -> Value {
        let value = value(try directory.state(Value.self, in: url, of: application, isLocked: isLocked))
        note(value)
        return value
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
    /// Brings the changes from one list to another into this one, which another process may have changed meanwhile.
    ///
    /// Elements that are new in `new` are added, or replace those of their name; changed ones are replaced, unless
    /// another process has removed them; those missing from `new` are removed. All others are left as they are.
    ///
    /// - Parameters:
    ///   - new: the list as it is to be for this process.
    ///   - old: the list as this process last knew it.
    ///   - name: an element's name, which no other of its list has.
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

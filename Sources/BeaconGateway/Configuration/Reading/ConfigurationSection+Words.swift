import BeaconPrograms
import Yams

extension ConfigurationSection {
    /// A program and its arguments: a list, or one line whose words are separated by spaces.
    func words(_ key: String) -> [String]? {
        guard case .scalar? = node(key) else {
            let words = texts(key, "write the program and its arguments")?.map(\.value)
            return words?.isEmpty == true ? nil : words
        }
        guard let line = text(key) else { return nil }
        do throws(CommandWords.Failure) {
            return try CommandWords.split(line.value)
        } catch {
            report(
                line.origin, error == .empty ? "\"\(key)\" is empty" : "in \"\(key)\", a quote has no end")
            return nil
        }
    }
}

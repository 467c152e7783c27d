import Foundation

/// The maximum accepted value of each case.
struct Thresholds {
    private let limits: [String: Double]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        limits = try JSONDecoder().decode([String: Double].self, from: data)
    }

    /// Returns the exceeded thresholds, one sentence each.
    func complaints(about results: [Measured]) -> [String] {
        let values = Dictionary(results.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return limits.sorted { $0.key < $1.key }.compactMap { name, limit in
            guard let value = values[name] else { return "\(name) was not measured" }
            guard value <= limit else { return "\(name) is \(Report.text(value)), above \(Report.text(limit))" }
            return nil
        }
    }
}

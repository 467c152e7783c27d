import Foundation

/// The results as a Markdown table for people, or as JSON for programs.
enum Report {
    static func table(_ results: [Measured]) -> String {
        var lines = [
            "| case | value | Swift | C | meaning |",
            "|---|---:|---:|---:|---|",
        ]
        for result in results {
            let times = [result.swift, result.reference].map { $0.map(text) ?? "" }
            lines.append(
                "| \(result.name) | \(text(result.value)) | \(times[0]) | \(times[1]) | \(result.meaning) |")
        }
        lines.append("")
        lines.append("Swift and C: nanoseconds of processor time per advert; for growth, the factor.")
        return lines.joined(separator: "\n")
    }

    static func json(_ results: [Measured]) throws -> String {
        let objects = results.map { result in
            var object: [String: Any] = ["name": result.name, "value": result.value, "meaning": result.meaning]
            object["swift"] = result.swift
            object["reference"] = result.reference
            return object
        }
        let data = try JSONSerialization.data(withJSONObject: objects, options: [.prettyPrinted, .sortedKeys])
        return String(decoding: data, as: UTF8.self)
    }

    static func text(_ value: Double) -> String {
        String(format: value == 0 || value >= 100 ? "%.0f" : value < 0.01 ? "%.4f" : "%.2f", value)
    }
}

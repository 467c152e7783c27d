import BeaconService
import Foundation
import Yams

extension SourceSettings {
    static func read(_ root: ConfigurationSection) -> [SourceSettings] {
        // In the environment, and for who needs no more, sources are a list of words.
        if let override = root.reading.override(of: root.path + ["sources"]) {
            _ = root.node("sources")
            return override.value.split(separator: ",").map { text in
                let text = text.trimmingCharacters(in: .whitespaces)
                return SourceSettings(name: text, specification: SourceSpecification(text))
            }
        }
        var names: Set<String> = []
        let what = "write a list of sources, as in \"sources: [hci]\""
        return root.items("sources", what).compactMap { node, path in
            if case .scalar(let scalar) = node, !node.isNothing {
                guard names.insert(scalar.string).inserted else {
                    root.report(.file(node.place), "the source \"\(scalar.string)\" is there already")
                    return nil
                }
                return SourceSettings(name: scalar.string, specification: SourceSpecification(scalar.string))
            }
            let section = ConfigurationSection(node, at: path, in: root.reading)
            defer { section.finish() }
            let name = section.name("source", known: &names)
            let receiver = section.text("receiver")
            let pace: Located<Pace>? = section.value("speed", "write how many times as fast as time it plays, or max") {
                if $0 == "max" { return .fastest }
                return Double($0).flatMap { $0 > 0 && $0.isFinite ? .times($0) : nil }
            }
            guard let from = section.text("from", "write auto, hci, bluez, a file or simulation:NAME") else {
                section.reportMissing("from", "write auto, hci, hci:hci0, bluez, a file or simulation:NAME")
                return nil
            }
            var specification = SourceSpecification(from.value)
            if case .file(let path) = specification, path != "-" {
                let folder = root.reading.folder
                let absolute = path.hasPrefix("/") ? path : folder.appendingPathComponent(path).standardizedFileURL.path
                specification = .file(path: absolute)
                if !FileManager.default.fileExists(atPath: absolute) {
                    root.reading.report(
                        from.origin,
                        "\"from\" is \"\(path)\", and there is no such file; radios are auto, hci, hci:hci0 and bluez",
                        severity: .warning)
                }
            }
            if pace != nil, specification.isRadio, let pace {
                section.report(pace.origin, "\"speed\" is for files and simulations; a radio is as fast as time")
            }
            return name.map {
                SourceSettings(
                    name: $0, specification: specification,
                    receiver: receiver?.value ?? (specification.isRadio ? $0 : nil), pace: pace?.value)
            }
        }
    }
}

import BeaconMonitoring
package import BeaconSupport
package import LinuxRadio

extension GuidedStart {
    /// A source of adverts.
    package struct Source: Encodable, Sendable {
        /// The name in the configuration.
        package var source: String
        /// The title for people.
        package var title: String
        /// True if the source can be used.
        package var usable: Bool
        /// The reason why it cannot be used, with the remedy; nil if it can.
        @Nullable package var reason: String?
        /// True for a radio of this machine.
        package var isRadio: Bool
    }

    /// The museum for users without a radio. It repeats forever.
    package static let museum = "simulation:museum?loop"

    /// Checks a source that a user asks for.
    ///
    /// - Throws: an error with the remedy if a service cannot use the source: if it ends by itself, or is read from a
    ///   file.
    package static func validate(source: String) throws {
        let kinds = ["auto", "hci", "bluez", "air", "simulation:"]
        guard kinds.contains(where: source.hasPrefix) else {
            throw SourceError(.noFile, "it is not auto, hci, bluez, air or simulation:NAME")
        }
        try SourceSpecification(source).validate()
    }

    /// Returns the sources that this machine can use now.
    package static func sources() async -> [Source] { sources(await DiagnosisCache().findings()) }

    /// Returns the usable sources: this machine's radios, and the air and the museum for users without a radio.
    package static func sources(_ findings: [Finding]) -> [Source] {
        let adapters = Set(findings.map(\.subject).filter { $0.wholeMatch(of: /hci[0-9]+/) != nil }).sorted()
        var sources: [Source] = []
        func problem(_ subjects: Set<String>?) -> String? {
            let found = findings.first { $0.level == .problem && subjects?.contains($0.subject) ?? true }
            return found.map { finding in
                let message = finding.message.hasSuffix(".") ? String(finding.message.dropLast()) : finding.message
                return "\(finding.subject): \(message)" + (finding.remedy.map { "; \($0)" } ?? "")
            }
        }
        let isUsable = adapters.contains { problem([$0]) == nil }
        sources.append(
            Source(
                source: "auto", title: "this machine's Bluetooth radio", usable: isUsable,
                reason: isUsable ? nil : problem(nil) ?? "this machine has no Bluetooth radio", isRadio: true))
        if adapters.count > 1 {
            for adapter in adapters {
                let reason = problem([adapter])
                sources.append(
                    Source(
                        source: "hci:\(adapter)", title: "the radio \(adapter) alone", usable: reason == nil,
                        reason: reason, isRadio: true))
            }
        }
        sources.append(
            Source(
                source: museum, title: "a simulated museum, to try it without a radio", usable: true,
                reason: nil, isRadio: false))
        sources.append(
            Source(
                source: "air", title: "the simulated air that programs of this machine share", usable: true,
                reason: nil, isRadio: false))
        return sources
    }
}

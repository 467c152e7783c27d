@preconcurrency import Foundation

/// The two roles line by line, for a script or a pipe.
@MainActor
final class LineInterface {
    private var configuration: BeaconConfiguration?
    private var ranger: BeaconRanger?
    private var printed = ""
    private let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)

    init() {
        // Write each line at once, even to a pipe.
        setvbuf(stdout, nil, Int32(_IOLBF), 0)
        interruption.setEventHandler { [unowned self] in leave() }
        interruption.resume()
    }

    /// Makes this device a beacon.
    func configure(_ uuid: UUID, major: UInt16, minor: UInt16) {
        let new = BeaconConfiguration(uuid: uuid) { [unowned self] in
            MainActor.assumeIsolated { show(configuration?.status ?? "") }
        }
        configuration = new
        new.change(.init(uuid: uuid, major: major, minor: minor), isEnabled: true)
    }

    /// Looks for beacons.
    func range(_ uuids: [UUID]) {
        let new = BeaconRanger { [unowned self] in
            MainActor.assumeIsolated { show(found + "\n") }
        }
        ranger = new
        for uuid in uuids { new.add(uuid) }
    }

    private var found: String {
        if let problem = ranger?.problem { return problem }
        let sections = (ranger?.sections ?? []).filter { !$0.beacons.isEmpty }.map { section in
            let rows = section.beacons.map { "  \($0.uuid)  major \($0.major)  minor \($0.minor)" }
            return ([section.proximity.title] + rows).joined(separator: "\n")
        }
        return sections.isEmpty ? "No beacons" : sections.joined(separator: "\n")
    }

    private func show(_ text: String) {
        guard text != printed else { return }
        printed = text
        print(text)
    }

    private func leave() {
        configuration?.leave()
        ranger?.leave()
        // There is no callback for the end of advertising, so allow it some time.
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) { exit(0) }
    }
}

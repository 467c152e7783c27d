@preconcurrency import Foundation

/// The app in the whole terminal: its home screen, and the two screens behind it.
@MainActor
final class RangingApp {
    private let defaultUUID: UUID
    private lazy var terminal = TerminalScreen(
        receive: { [unowned self] key in handle(key) }, resized: { [unowned self] in draw() })
    private lazy var home = HomeScreen(
        configure: { [unowned self] in open(ConfigureScreen(configuration)) },
        range: { [unowned self] in open(RangeScreen(ranger, defaultUUID: defaultUUID.uuidString)) })
    private lazy var screen: any AppScreen = home
    private var walk = Walk()
    private var clock: Timer?

    /// Their callbacks arrive on the main queue, since they are created on the main thread.
    private lazy var ranger = BeaconRanger { [unowned self] in
        MainActor.assumeIsolated { changed() }
    }
    private lazy var configuration = BeaconConfiguration(uuid: defaultUUID) { [unowned self] in
        MainActor.assumeIsolated { changed() }
    }

    init(defaultUUID: UUID) { self.defaultUUID = defaultUUID }

    /// Shows the first screen.
    func start() {
        // Before the app takes over the terminal, so that permission can be requested there.
        _ = (ranger, configuration)
        terminal.enter()
        draw()
        // Shows the position of a walking user.
        clock = Timer.scheduledTimer(withTimeInterval: 0.2, repeats: true) { [unowned self] _ in
            MainActor.assumeIsolated { draw() }
        }
    }

    private func open(_ new: any AppScreen) {
        screen = new
        guard new is RangeScreen, ranger.authorization == .notDetermined else { return }
        // The terminal asks the question, as iOS does above the app.
        terminal.leave()
        print("Waiting for permission to look for beacons. Ctrl-C ends the app.")
        ranger.requestAuthorization()
    }

    private func changed() {
        if ranger.authorization != .notDetermined, terminal.enter() {
            // The end of the question may be printed after the screen.
            DispatchQueue.main.asyncAfter(deadline: .now() + 0.5) {
                MainActor.assumeIsolated {
                    self.terminal.forget()
                    self.draw()
                }
            }
        }
        draw()
    }

    // MARK: - Drawing

    private func draw() {
        let size = terminal.size
        var header = StyledLine("  " + screen.title, .bold)
        let place = walk.text
        if let place {
            header.pad(to: size.columns - place.count - 2)
            header.append(place, .dim)
        }
        var (lines, cursor) = screen.draw()
        lines.insert(header, at: 0)
        // If lines do not fit, the last one counts them. The keys are at the bottom of any window.
        let room = max(1, size.rows - 2)
        if lines.count > room {
            let hidden = lines.count - room + 1
            lines =
                Array(lines.prefix(room - 1)) + [
                    StyledLine("  … \(hidden) more lines; a taller window shows them", .dim)
                ]
        }
        while lines.count < size.rows - 1 { lines.append(StyledLine()) }
        var keys = screen.keys
        // An arrow or Esc may have another meaning on this screen.
        if place != nil, !keys.contains(where: { $0.contains("↑") }) { keys.append("←↑↓→ walk") }
        if screen !== home, !keys.contains(where: { $0.contains("Esc") }) { keys.append("Esc back") }
        lines.append(StyledLine("  " + keys.joined(separator: "   "), .dim))
        let cursorPlace = cursor.flatMap { $0.row + 1 < room ? (row: $0.row + 1, column: $0.column) : nil }
        terminal.draw(
            .init(
                lines: lines.map { $0.text(columns: size.columns, hasColor: TerminalScreen.hasColor) },
                cursor: cursorPlace))
    }

    // MARK: - Keys

    private func handle(_ key: Key) {
        if !screen.handle(key), !walk.take(key) {
            switch key {
            case .escape where screen !== home:
                screen.leave()
                screen = home
            case .escape, .character("q"): if screen === home { quit() }
            default: break
            }
        }
        draw()
    }

    private func quit() {
        screen.leave()
        // Advertising stops before the program ends.
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.1) {
            MainActor.assumeIsolated { () -> Void in self.terminal.quit(0) }
        }
    }
}

import ArgumentParser
import BeaconPrograms

/// Runs the user's program for one event after another, so that it never runs twice at once and sees events in order.
struct EventPrograms: Sendable {
    private let events: AsyncStream<[UInt8]>.Continuation
    private let worker: Task<Void, Never>

    /// Begins to wait for events.
    ///
    /// - Parameter words: the program and its arguments.
    init(_ words: [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        events = continuation
        let program = EventProgram(words)
        worker = Task {
            for await event in stream {
                if Interruption.isRequested { return }
                await Self.run(program, event)
            }
        }
    }

    /// Adds an event to those that the program is to be run for.
    func enqueue(_ event: [UInt8]) { events.yield(event) }

    /// Waits until the program has been run for all events.
    func finish() async {
        events.finish()
        await worker.value
    }

    /// Splits a command into its words.
    ///
    /// - Throws: `ValidationError` if there is no word or a quote has no end.
    static func words(of command: String) throws -> [String] {
        do throws(CommandWords.Failure) {
            return try CommandWords.split(command)
        } catch {
            throw switch error {
            case .empty: ValidationError("--exec needs a program to run.")
            case .openQuote: ValidationError("--exec \(command): a quote has no end.")
            }
        }
    }

    private static func run(_ program: EventProgram, _ event: [UInt8]) async {
        let name = program.words[0]
        do {
            let outcome = try await program.run(input: event, output: .standardError)
            if !outcome.isSuccess { StandardError.write("Warning: \(name) \(outcome).") }
        } catch {
            StandardError.write("Warning: \(name) could not be run: \(error)")
        }
    }
}

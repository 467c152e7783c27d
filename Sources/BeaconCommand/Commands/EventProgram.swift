import ArgumentParser
import Subprocess
import SystemPackage

/// Runs the user's program for one event after another, so that it never runs twice at once and sees events in order.
struct EventProgram: Sendable {
    /// How long a program may take for one event.
    static let timeLimit = Duration.seconds(30)

    private let events: AsyncStream<[UInt8]>.Continuation
    private let worker: Task<Void, Never>

    /// Begins to wait for events.
    ///
    /// - Parameter words: the program and its arguments.
    init(_ words: [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        events = continuation
        worker = Task {
            for await event in stream {
                if Interruption.isRequested { return }
                await Self.run(words, event)
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

    /// Splits a command at spaces; single and double quotes keep words together, and a backslash the next character.
    ///
    /// - Throws: `ValidationError` if there is no word or a quote has no end.
    static func words(of command: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in command {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " || character == "\t" {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { throw ValidationError("--exec \(command): a quote has no end.") }
        if let word { words.append(word) }
        guard !words.isEmpty else { throw ValidationError("--exec needs a program to run.") }
        return words
    }

    private static func run(_ words: [String], _ event: [UInt8]) async {
        let executable: Executable = words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0])
        do {
            let isInTime = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    let result = try await Subprocess.run(
                        executable, arguments: Arguments(Array(words.dropFirst())), input: .array(event),
                        // Standard output is for this program's own results.
                        output: .currentStandardError, error: .currentStandardError)
                    if !result.terminationStatus.isSuccess, !Task.isCancelled {
                        StandardError.write("Warning: \(words[0]) ended with \(result.terminationStatus).")
                    }
                    return true
                }
                group.addTask {
                    try await Task.sleep(for: timeLimit)
                    return false
                }
                defer { group.cancelAll() }
                return try await group.next() ?? true
            }
            if !isInTime {
                StandardError.write(
                    "Warning: \(words[0]) took more than \(timeLimit.components.seconds) s and was ended.")
            }
        } catch {
            StandardError.write("Warning: \(words[0]) could not be run: \(error)")
        }
    }
}

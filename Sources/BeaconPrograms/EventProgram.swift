import Subprocess
import SystemPackage

/// A program that is run for an event: without a shell, with the event on its standard input, and for a limited time.
package struct EventProgram: Sendable {
    /// The receiver of a program's output.
    package enum Output: Sendable {
        /// This process's standard error. Its standard output is for its own results.
        case standardError
        /// A function, called line by line, for both outputs. Lines longer than 4096 bytes arrive in parts.
        case lines(@Sendable (String) -> Void)
    }

    /// The end of a program.
    package enum Outcome: Hashable, Sendable, CustomStringConvertible {
        /// The program ended by itself, with a status.
        case exited(Int32)
        /// A signal ended the program.
        case signaled(Int32)
        /// The program exceeded its time limit and was ended.
        case tookTooLong(Duration)

        /// True for an end by itself with status 0.
        package var isSuccess: Bool { self == .exited(0) }

        /// The end in words, for a log.
        package var description: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signaled(let signal): "was ended by signal \(signal)"
            case .tookTooLong(let limit): "took more than \(limit.components.seconds) s and was ended"
            }
        }
    }

    /// The program and its arguments. A program without a slash is searched in `PATH`.
    package var words: [String]

    /// The program's working folder; nil for that of this process.
    package var folder: String?

    /// The program's whole environment; nil for that of this process.
    package var environment: [String: String]?

    /// The user who runs the program; nil for the user of this process. Only root can name another.
    package var account: UserAccount?

    /// The longest time that the program may run; nil for no limit.
    package var timeLimit: Duration?

    /// The time from SIGTERM to SIGKILL.
    package var gracePeriod = Duration.seconds(3)

    /// True to run the program and all that it starts in a session of their own, which no key on the terminal reaches
    /// and which is ended as a whole.
    package var isOwnSession = false

    /// A program and its arguments.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - timeLimit: the longest time that it may run; nil for no limit.
    package init(_ words: [String], timeLimit: Duration? = .seconds(30)) {
        self.words = words
        self.timeLimit = timeLimit
    }

    /// Runs the program to its end. Cancelling the task ends it.
    ///
    /// - Parameters:
    ///   - input: the event, for the program's standard input.
    ///   - output: the receiver of its output.
    /// - Returns: the end of the program.
    /// - Throws: an error of swift-subprocess where the program cannot be started.
    package func run(input: [UInt8], output: Output) async throws -> Outcome {
        guard let timeLimit else { return try await runUnlimited(input: input, output: output) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { try await runUnlimited(input: input, output: output) }
            group.addTask {
                try await Task.sleep(for: timeLimit)
                return .tookTooLong(timeLimit)
            }
            // The group waits for the program, which is ended by being cancelled.
            defer { group.cancelAll() }
            return try await group.next() ?? .exited(0)
        }
    }

    private func runUnlimited(input: [UInt8], output: Output) async throws -> Outcome {
        let status: TerminationStatus
        switch output {
        case .standardError:
            status =
                try await Subprocess.run(
                    configuration, input: .array(input), output: .currentStandardError, error: .currentStandardError
                ).terminationStatus
        case .lines(let receive):
            status =
                try await Subprocess.run(
                    configuration, input: .array(input), output: .sequence, error: .combinedWithOutput
                ) { execution in
                    var lines = LineSplitter()
                    for try await buffer in execution.standardOutput {
                        buffer.withUnsafeBytes { lines.append($0, receive: receive) }
                    }
                    lines.finish(receive: receive)
                }.terminationStatus
        }
        return switch status {
        case .exited(let code): .exited(code)
        case .signaled(let signal): .signaled(signal)
        }
    }

    /// The words with what changes the user before them.
    ///
    /// A process of several threads must not change its user between fork and exec: glibc's setgroups(2) waits for
    /// threads that the child does not have. setpriv(1), which every Debian has, changes it in a process of one thread.
    private var commandLine: [String] {
        guard let account else { return words }
        let groups = account.groups.map(String.init).joined(separator: ",")
        return [
            "/usr/bin/setpriv", "--reuid=\(account.userID)", "--regid=\(account.groupID)",
            groups.isEmpty ? "--clear-groups" : "--groups=\(groups)", "--",
        ] + words
    }

    private var configuration: Configuration {
        var options = PlatformOptions()
        options.createSession = isOwnSession
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: isOwnSession, allowedDurationToNextStep: gracePeriod)
        ]
        let words = commandLine
        let program = words.first ?? ""
        return Configuration(
            executable: program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(Array(words.dropFirst())),
            environment: environment.map { values in
                .custom(Dictionary(uniqueKeysWithValues: values.map { (.init(stringLiteral: $0.key), $0.value) }))
            } ?? .inherit,
            workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    }
}

/// A splitter of bytes that arrive in pieces into lines.
struct LineSplitter {
    /// The longest line in bytes, so that a program that never ends a line does not fill the memory.
    static let longestLine = 4096

    private var line: [UInt8] = []

    /// Appends bytes and passes each complete line on.
    mutating func append(_ bytes: UnsafeRawBufferPointer, receive: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish(receive: receive)
            } else {
                if line.count == Self.longestLine { finish(receive: receive) }
                line.append(byte)
            }
        }
    }

    /// Passes the last line on, where it is not empty.
    mutating func finish(receive: (String) -> Void) {
        guard !line.isEmpty else { return }
        receive(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
    }
}

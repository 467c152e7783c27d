import Subprocess
import SystemPackage

/// A program that is run for an event: without a shell, with the event on its standard input, and for a limited time.
public struct EventProgram: Sendable {
    /// Where a program's output goes.
    public enum Output: Sendable {
        /// To this process's standard error. Its standard output is for results of its own.
        case standardError
        /// To a function, line by line, both outputs together. Lines longer than 4096 bytes come in parts.
        case lines(@Sendable (String) -> Void)
    }

    /// How a program ended.
    public enum Outcome: Hashable, Sendable, CustomStringConvertible {
        /// It ended by itself, with a status.
        case exited(Int32)
        /// A signal ended it.
        case signaled(Int32)
        /// It took too long and was ended.
        case tookTooLong(Duration)

        /// Whether it ended by itself with status 0.
        public var isSuccess: Bool { self == .exited(0) }

        /// What a log says.
        public var description: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signaled(let signal): "was ended by signal \(signal)"
            case .tookTooLong(let limit): "took more than \(limit.components.seconds) s and was ended"
            }
        }
    }

    /// The program and its arguments. A program without a slash is looked for in `PATH`.
    public var words: [String]

    /// The folder it is started in; nil for this process's own.
    public var folder: String?

    /// All of its environment; nil for this process's own.
    public var environment: [String: String]?

    /// Who runs it; nil for whoever runs this process. Only root can name another.
    public var account: UserAccount?

    /// How long it may run; nil for as long as it likes.
    public var timeLimit: Duration?

    /// How long it has to end after the polite signal (SIGTERM), before it is killed.
    public var gracePeriod = Duration.seconds(3)

    /// Whether it and all that it starts are a session of their own, which no key on the terminal reaches and which is
    /// ended as a whole.
    public var isOwnSession = false

    /// A program and its arguments, which may run for 30 s.
    public init(_ words: [String], timeLimit: Duration? = .seconds(30)) {
        self.words = words
        self.timeLimit = timeLimit
    }

    /// Runs it to its end. When the task is cancelled, it is ended.
    ///
    /// - Throws: why it could not be started.
    public func run(input: [UInt8], output: Output) async throws -> Outcome {
        guard let timeLimit else { return try await runUnlimited(input, output) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { try await runUnlimited(input, output) }
            group.addTask {
                try await Task.sleep(for: timeLimit)
                return .tookTooLong(timeLimit)
            }
            // The group waits for the program, which is ended by being cancelled.
            defer { group.cancelAll() }
            return try await group.next() ?? .exited(0)
        }
    }

    private func runUnlimited(_ input: [UInt8], _ output: Output) async throws -> Outcome {
        let status: TerminationStatus
        switch output {
        case .standardError:
            status =
                try await Subprocess.run(
                    configuration, input: .array(input), output: .currentStandardError, error: .currentStandardError
                ).terminationStatus
        case .lines(let tell):
            status =
                try await Subprocess.run(
                    configuration, input: .array(input), output: .sequence, error: .combinedWithOutput
                ) { execution in
                    var lines = LineSplitter()
                    for try await buffer in execution.standardOutput {
                        buffer.withUnsafeBytes { lines.append($0, tell) }
                    }
                    lines.finish(tell)
                }.terminationStatus
        }
        return switch status {
        case .exited(let code): .exited(code)
        case .signaled(let signal): .signaled(signal)
        }
    }

    private var configuration: Configuration {
        var options = PlatformOptions()
        options.createSession = isOwnSession
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: isOwnSession, allowedDurationToNextStep: gracePeriod)
        ]
        if let account {
            options.userID = account.userID
            options.groupID = account.groupID
            options.supplementaryGroups = account.groups
        }
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

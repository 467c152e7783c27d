import CLibrary
import CProcess
import Subprocess
import SystemPackage

/// A program that runs for an event: without a shell, with the event on its standard input, and for a limited time.
///
/// The program's use of input, output, children and time can end only the program itself. It gets a
/// ``ProgramEnvironment``, the three standard files and no others, and no capability of this process once
/// ``ProcessPrivileges/settle()`` was called.
///
/// A supervisor runs it: this process's executable under another name, see `beacon_supervisor.c` of `CProcess`. The
/// supervisor ends the program and everything that the program started, in any session.
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

    /// The program's working folder; nil for the folder of this process.
    package var folder: String?

    /// The program's whole environment.
    package var environment = ProgramEnvironment.inherited()

    /// The longest time that the program, and everything that it started, may run; nil for no limit.
    package var timeLimit: Duration?

    /// The time from SIGTERM to SIGKILL.
    package var gracePeriod = Duration.seconds(3)

    /// True to run the program in a separate session, which no key on the terminal reaches.
    package var isOwnSession = false

    /// The additional time that the supervisor has for its work.
    private static let supervisorTime = Duration.seconds(10)

    /// Creates a program with its arguments.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - timeLimit: the longest time that it may run; nil for no limit.
    package init(_ words: [String], timeLimit: Duration? = .seconds(30)) {
        self.words = words
        self.timeLimit = timeLimit
    }

    /// Runs the program to its end. Cancelling the task ends the program and everything that it started.
    ///
    /// Processes that outlive the program can run until the time limit.
    ///
    /// - Parameters:
    ///   - input: the event, for the program's standard input.
    ///   - output: the receiver of its output.
    /// - Returns: the end of the program.
    /// - Throws: ``ProgramError`` if the program cannot be started.
    package func run(input: [UInt8], output: Output) async throws(ProgramError) -> Outcome {
        // A file instead of a pipe: a pipe needs a writer while the program runs, even if the program does not read.
        let file = input.withUnsafeBytes { beacon_memory_file($0.baseAddress, $0.count) }
        guard file >= 0 else { throw ProgramError(errno: errno) }
        let descriptor = FileDescriptor(rawValue: file)
        defer { try? descriptor.close() }
        let executable = try executable()
        do {
            guard let timeLimit else { return try await run(executable, input: descriptor, output: output) }
            return try await withThrowingTaskGroup(of: Outcome?.self) { group in
                group.addTask { try await run(executable, input: descriptor, output: output) }
                group.addTask {
                    // The supervisor ends everything at the limit. A process of another user, which it may not end, can
                    // still hold the outputs open.
                    let patience = timeLimit + gracePeriod + Self.supervisorTime
                    guard (try? await Task.sleep(for: patience)) != nil else { return nil }
                    return .tookTooLong(timeLimit)
                }
                // The group waits for the program, which ends because it is cancelled.
                defer { group.cancelAll() }
                while let outcome = try await group.next() {
                    if let outcome { return outcome }
                }
                return .exited(0)
            }
        } catch {
            throw ProgramError(error, folder: folder)
        }
    }

    /// Returns the path of the program's file.
    ///
    /// - Throws: ``ProgramError`` if there is no such file that this user may run.
    private func executable() throws(ProgramError) -> String {
        let program = words.first ?? ""
        if program.contains("/") {
            // Relative to the folder in which the program runs.
            guard let obstacle = Self.obstacle(program.hasPrefix("/") ? program : "\(folder ?? ".")/\(program)") else {
                return program
            }
            throw ProgramError(
                .notFound,
                "there is no program \(program), or this user may not run it (\(obstacle)); "
                    + "check its path and its mode")
        }
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        guard let found = folders.lazy.map({ "\($0)/\(program)" }).first(where: { Self.obstacle($0) == nil }) else {
            throw ProgramError(.notFound, "there is no program \(program) in PATH; write its path")
        }
        return found
    }

    /// Returns why a file cannot be run; nil if it can.
    private static func obstacle(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, X_OK) == 0 else { return String(cString: strerror(errno)) }
        return status.st_mode & S_IFMT == S_IFREG ? nil : "it is not a file"
    }

    private func run(_ executable: String, input: FileDescriptor, output: Output) async throws -> Outcome {
        let configuration = supervised(executable)
        let status: TerminationStatus
        switch output {
        case .standardError:
            status =
                try await Subprocess.run(
                    configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: false),
                    output: .currentStandardError, error: .currentStandardError
                ).terminationStatus
        case .lines(let receive):
            status =
                try await Subprocess.run(
                    configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: false),
                    output: .sequence, error: .combinedWithOutput
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
        case .signaled(BEACON_LIMIT_SIGNAL): .tookTooLong(timeLimit ?? .zero)
        case .signaled(let signal): .signaled(signal)
        }
    }

    /// Returns the configuration that starts the supervisor.
    private func supervised(_ executable: String) -> Configuration {
        var options = PlatformOptions()
        options.teardownSequence = [
            .send(signal: .terminate, allowedDurationToNextStep: gracePeriod + Self.supervisorTime)
        ]
        let times = [timeLimit, gracePeriod].map { $0.map { "\(Int64($0 / .milliseconds(1)))" } ?? "-1" }
        return Configuration(
            executable: .path("/proc/self/exe"),
            arguments: Arguments(
                executablePathOverride: BEACON_SUPERVISOR,
                remainingValues: times + [isOwnSession ? "1" : "0", executable] + words),
            environment: .custom(
                Dictionary(uniqueKeysWithValues: environment.map { (.init(stringLiteral: $0.key), $0.value) })),
            workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    }
}

/// An error of starting a program.
package struct ProgramError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error. More may come, so a `switch` over codes needs a default.
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case notFound, noFolder, failed
        }

        private let value: Value

        /// There is no such program, or this user may not run it.
        package static let notFound = Code(value: .notFound)
        /// The working folder is missing, or this user may not enter it.
        package static let noFolder = Code(value: .noFolder)
        /// The system cannot start it, or cannot watch it.
        package static let failed = Code(value: .failed)
    }

    /// The kind of the error.
    package let code: Code

    /// The cause and the remedy, in a sentence.
    package let message: String

    /// The message.
    package var description: String { message }

    fileprivate init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error of a system call.
    fileprivate init(errno: Int32) {
        self.init(.failed, "the system cannot start a program: \(String(cString: strerror(errno)))")
    }

    /// The error of running a program.
    fileprivate init(_ error: any Error, folder: String?) {
        guard let error = error as? SubprocessError else {
            self.init(.failed, "cannot run it to its end: \(error)")
            return
        }
        let cause = error.underlyingError.map { " (\($0))" } ?? ""
        guard error.code == .failedToChangeWorkingDirectory else {
            self.init(.failed, "\(error)")
            return
        }
        self.init(
            .noFolder, "cannot enter its folder \(folder ?? "")\(cause); check that the folder exists, and its mode")
    }
}

/// A splitter of bytes that arrive in pieces into lines.
struct LineSplitter {
    /// The longest line in bytes, so that a program that never ends a line does not fill the memory.
    static let longestLine = 4096

    private var line: [UInt8] = []

    /// Appends bytes, and passes on each complete line.
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

    /// Passes on the last line if it is not empty.
    mutating func finish(receive: (String) -> Void) {
        guard !line.isEmpty else { return }
        receive(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
    }
}

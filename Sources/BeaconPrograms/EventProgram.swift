import BeaconSupport
import CLibrary
import CProcess

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

        /// Adds a line of this process.
        func report(_ line: String) {
            switch self {
            case .standardError:
                let bytes = Array((line + "\n").utf8)
                _ = write(STDERR_FILENO, bytes, bytes.count)
            case .lines(let receive): receive(line)
            }
        }
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
    /// Processes that outlive the program can run until the time limit. The start waits while the system has no room
    /// for another process or its files, and while many others run.
    ///
    /// - Parameters:
    ///   - input: the event, for the program's standard input.
    ///   - output: the receiver of its output.
    /// - Returns: the end of the program.
    /// - Throws: ``ProgramError`` if the program cannot be started.
    package func run(input: [UInt8], output: Output) async throws(ProgramError) -> Outcome {
        let executable = try executable()
        // A program without a limit would keep its place for ever.
        guard timeLimit != nil else { return try await run(executable, input: input, output: output) }
        return try await Self.places.run { () async throws(ProgramError) in
            guard !Task.isCancelled else { throw ProgramError(.failed, "it was to end before it had started") }
            return try await run(executable, input: input, output: output)
        }
    }

    /// The places of programs, each of which has three processes. Without a bound, an event of hundreds of rules could
    /// fill the memory of a small machine.
    private static let places = AsyncMutex(places: 64)

    private func run(_ executable: String, input: [UInt8], output: Output) async throws(ProgramError) -> Outcome {
        let supervisor = try await start(executable, input: input, output: output)
        let isLate = Locked(false)
        let status = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // The supervisor ends everything at the limit, or when this task is cancelled. It cannot end a process
                // of another user, and does not wait for it.
                let patience = timeLimit.map { $0 + gracePeriod + Self.supervisorTime } ?? .seconds(1 << 30)
                let hasPassed = (try? await Task.sleep(for: patience)) != nil
                guard supervisor.send(SIGTERM) else { return }
                isLate.withLock { $0 = hasPassed }
                // Detached, since this task may be cancelled.
                Task.detached {
                    try await Task.sleep(for: gracePeriod + Self.supervisorTime)
                    supervisor.send(SIGKILL)
                }
            }
            defer { group.cancelAll() }
            return await supervisor.end()
        }
        // wait(2): the low seven bits are the signal that ended it, the next byte is its status.
        return switch status & 0x7F {
        case _ where isLate.withLock { $0 }: .tookTooLong(timeLimit ?? .zero)
        case 0: .exited(status >> 8 & 0xFF)
        case BEACON_LIMIT_SIGNAL: .tookTooLong(timeLimit ?? .zero)
        case let signal: .signaled(signal)
        }
    }

    /// Starts the supervisor, as soon as the system has room for it.
    private func start(
        _ executable: String, input: [UInt8], output: Output
    ) async throws(ProgramError) -> ProgramSupervisor {
        let times = [timeLimit, gracePeriod].map { $0.map { "\(Int64($0 / .milliseconds(1)))" } ?? "-1" }
        let order =
            [BEACON_SUPERVISOR] + times + [isOwnSession ? "1" : "0", "\(beacon_earlier_file_limit())", executable]
            + words
        var pause = Duration.milliseconds(50)
        while true {
            do throws(ProgramError) {
                return try ProgramSupervisor(order, of: self, input: input, output: output)
            } catch {
                // At first in silence: other programs are about to end.
                if pause == .milliseconds(800) { output.report("\(error); trying again") }
                guard error.code == .exhausted, (try? await Task.sleep(for: pause)) != nil else { throw error }
                pause = min(pause * 2, .seconds(1))
            }
        }
    }

    /// The reason why the program cannot run, with the remedy; nil if it probably can.
    package var fault: String? {
        do throws(ProgramError) {
            _ = try executable()
            return nil
        } catch {
            return error.message
        }
    }

    /// Returns the path of the program's file.
    ///
    /// - Throws: ``ProgramError`` if there is no such file that this user may run, or no such working folder.
    private func executable() throws(ProgramError) -> String {
        if let folder, let obstacle = Self.obstacle(folder, S_IFDIR) {
            throw ProgramError(
                .noFolder, "cannot enter its folder \(folder) (\(obstacle)); check that the folder exists, and its mode"
            )
        }
        let program = words.first ?? ""
        if program.contains("/") {
            // Relative to the folder in which the program runs.
            let path = program.hasPrefix("/") ? program : "\(folder ?? ".")/\(program)"
            guard let obstacle = Self.obstacle(path) else { return program }
            throw ProgramError(
                .notFound,
                access(path, F_OK) == 0
                    ? "cannot run \(program): \(obstacle); check its mode and its first line"
                    : "there is no program \(program) (\(obstacle)); check its path")
        }
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        guard let found = folders.lazy.map({ "\($0)/\(program)" }).first(where: { Self.obstacle($0) == nil }) else {
            throw ProgramError(.notFound, "there is no program \(program) in PATH; write its path")
        }
        return found
    }

    /// Returns why a file cannot be run, or a folder cannot be entered; nil if it can.
    private static func obstacle(_ path: String, _ kind: mode_t = S_IFREG) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, X_OK) == 0 else { return String(cString: strerror(errno)) }
        guard status.st_mode & S_IFMT == kind else { return "it is not a \(kind == S_IFREG ? "file" : "folder")" }
        return kind == S_IFREG ? scriptFault(path) : nil
    }

    /// Returns why the kernel cannot run a script (execve(2)); nil for other files.
    private static func scriptFault(_ path: String) -> String? {
        var start = [UInt8](repeating: 0, count: 256)
        let file = open(path, O_RDONLY | O_CLOEXEC)
        // A file that this user may run, but not read, is no script.
        guard file >= 0 else { return nil }
        let count = read(file, &start, start.count)
        close(file)
        let line = start.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        // Programs have other control characters at their beginning.
        guard line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return nil }
        guard line.starts(with: "#!".utf8) else { return "it is a script without a first line like #!/bin/sh" }
        let words = line.dropFirst(2).split { $0 == 0x20 || $0 == 0x09 }
        let interpreter = String(decoding: words.first ?? [], as: UTF8.self)
        guard access(interpreter, X_OK) != 0 else { return nil }
        return "its first line names the program \(interpreter.debugDescription), which is missing"
    }
}

/// An error of starting a program.
package struct ProgramError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    package enum Code: Sendable {
        case notFound, noFolder, exhausted, failed
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

    /// The error of a system call that starts a program.
    init(errno: Int32) {
        // EMFILE and ENFILE: descriptors. EAGAIN: processes. ENOMEM: memory.
        let isExhausted = [EMFILE, ENFILE, EAGAIN, ENOMEM].contains(errno)
        self.init(
            isExhausted ? .exhausted : .failed, "the system cannot start a program: \(String(cString: strerror(errno)))"
        )
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

import CLibFuzzer
import Glibc

/// The variable that passes the target to libFuzzer's child processes, which it starts only with its own options.
private let targetVariable = "BEACON_FUZZ_TARGET"

/// `BeaconFuzz list`, `BeaconFuzz seed TARGET FOLDER`, `BeaconFuzz TARGET [options and files of libFuzzer]`.
@main
enum BeaconFuzz {
    static func main() {
        let arguments = CommandLine.arguments
        switch arguments.count > 1 ? arguments[1] : "" {
        case "list":
            for target in FuzzTarget.all { print(target.name) }
        case "seed" where arguments.count == 4:
            guard let target = FuzzTarget.all.first(where: { $0.name == arguments[2] }) else { usage() }
            write(target.seeds, to: arguments[3])
        case let name:
            // A child process of libFuzzer: its first argument is an option.
            if name.hasPrefix("-"), let inherited = getenv(targetVariable).map({ String(cString: $0) }),
                let target = FuzzTarget.all.first(where: { $0.name == inherited })
            {
                run(target, optionsFrom: 1)
            }
            guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { usage() }
            setenv(targetVariable, name, 1)
            run(target, optionsFrom: 2)
        }
    }

    private static func run(_ target: FuzzTarget, optionsFrom first: Int) -> Never {
        // libFuzzer must not see the target's name or this program's other commands.
        var kept = CommandLine.unsafeArgv[0].map { [$0] } ?? []
        for index in first..<max(first, Int(CommandLine.argc)) {
            if let argument = CommandLine.unsafeArgv[index] { kept.append(argument) }
        }
        var count = CInt(kept.count)
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: kept.count + 1)
        for (index, argument) in kept.enumerated() { (list + index).initialize(to: argument) }
        (list + kept.count).initialize(to: nil)
        var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = list
        exit(LLVMFuzzerRunDriver(&count, &argv, target.callback))
    }

    private static func write(_ seeds: [[UInt8]], to folder: String) {
        for (index, seed) in seeds.enumerated() {
            guard let file = fopen("\(folder)/seed-\(index)", "w") else { fail("cannot write to \(folder)") }
            fwrite(seed, 1, seed.count, file)
            fclose(file)
        }
    }

    private static func usage() -> Never {
        fail("usage: BeaconFuzz list | seed TARGET FOLDER | TARGET [libFuzzer's options and files]")
    }

    private static func fail(_ message: String) -> Never {
        let line = Array((message + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(2)
    }
}

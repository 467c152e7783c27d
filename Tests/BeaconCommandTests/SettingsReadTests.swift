import Foundation
import TestSupport
import Testing

/// A count of how often a command reads its environment, its files and the terminal.
@Suite("Settings", .fewAtATime)
struct SettingsReadTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// A library that wraps functions of the C library and counts their calls.
    private static let counter = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>

        static long calls[4];
        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

        char *getenv(const char *name) {
            __atomic_add_fetch(&calls[0], 1, __ATOMIC_RELAXED);
            return REAL(getenv)(name);
        }
        int isatty(int file) {
            __atomic_add_fetch(&calls[1], 1, __ATOMIC_RELAXED);
            return REAL(isatty)(file);
        }
        int stat(const char *restrict path, struct stat *restrict status) {
            __atomic_add_fetch(&calls[2], 1, __ATOMIC_RELAXED);
            return REAL(stat)(path, status);
        }
        int access(const char *path, int mode) {
            __atomic_add_fetch(&calls[3], 1, __ATOMIC_RELAXED);
            return REAL(access)(path, mode);
        }
        int isatty(int);

        __attribute__((destructor)) static void report(void) {
            const char *path = REAL(getenv)("CALL_COUNTS");
            FILE *file = path ? fopen(path, "w") : NULL;
            if (!file) return;
            fprintf(file, "getenv %ld isatty %ld stat %ld access %ld\\n", calls[0], calls[1], calls[2], calls[3]);
            fclose(file);
        }
        """

    /// A recording of beacons that are heard one after another, each by two receivers in turn, and then disappear.
    private static func log(beacons: Int) -> String {
        var lines: [String] = []
        for beacon in 1...beacons {
            for second in 0..<8 {
                let time = 1_700_000_000 + beacon * 40 + second
                for (receiver, rssi) in [("R1", -60), ("R2", -80)] {
                    lines.append(
                        #"{"time":\#(time),"receiver":"\#(receiver)","address":"c0:00:00:00:00:01","uuid":"\#(uuid)","#
                            + #""major":1,"minor":\#(beacon),"measuredPower":-59,"rssi":\#(rssi)}"#)
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test(
        "A command reads its settings once, however many events there are",
        arguments: [
            "scan", "range --json", "monitor --json --region \(uuid)",
            "places --json --place hall=R1 --place kitchen=R2", "places --each-second --place hall=R1",
            "record %/copy.ndjson", "calibrate --seconds 3600", "teach hall --seconds 3600 --file %/places.json",
        ])
    func once(command: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        try Self.counter.write(toFile: path + "/counter.c", atomically: true, encoding: .utf8)
        let compiled = try await BeaconProgram.runShell(
            "(cc -shared -fPIC -o \(path)/counter.so \(path)/counter.c || clang -shared -fPIC -o \(path)/counter.so "
                + "\(path)/counter.c) 2>&1")
        try #require(compiled.status == 0, "\(compiled.output)")
        var counts: [String] = []
        var events: [Int] = []
        for beacons in [3, 60] {
            let log = path + "/log.ndjson"
            try Self.log(beacons: beacons).write(toFile: log, atomically: true, encoding: .utf8)
            // Each run has a new folder, without files of an earlier run.
            let own = path + "/\(beacons)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            let words = command.replacingOccurrences(of: "%", with: own).split(separator: " ").map(String.init)
            let outcome = try await BeaconProgram.run(
                words + ["--source", log],
                environment: [
                    "LD_PRELOAD": path + "/counter.so", "CALL_COUNTS": path + "/counts", "XDG_STATE_HOME": own,
                ])
            #expect(outcome.status == 0, "\(outcome.errors)")
            events.append(outcome.lines.count)
            counts.append(try String(contentsOfFile: path + "/counts", encoding: .utf8))
        }
        #expect(counts[0] == counts[1])
        #expect(["record", "calibrate", "teach"].contains { command.hasPrefix($0) } || events[1] > events[0])
    }
}

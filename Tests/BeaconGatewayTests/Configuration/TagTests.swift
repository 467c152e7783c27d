import GatewayTestSupport
import Testing

@Suite("Tags in configurations")
struct TagTests {
    @Test(
        "A tag is an error that says what to write, wherever it is",
        arguments: [
            ("log: { level: !secret level }", "!secret", "{ file: PATH } or { env: NAME }"),
            (
                "destinations: [{ name: a, type: mqtt, host: h, user: u, password: !secret mqtt }]", "!secret",
                "{ file: PATH } or { env: NAME }"
            ),
            ("destinations: [{ name: a, type: mqtt, host: !env_var HOST }]", "!env_var", "{ env: NAME }"),
            ("beacons: !include beacons.yaml", "!include", "write the value itself"),
            ("beacons: !include_dir_list [a]", "!include_dir_list", "write the value itself"),
            ("log: !include { level: info }", "!include", "write the value itself"),
            ("!secret log: { level: info }", "!secret", "{ file: PATH }"),
        ])
    func tags(text: String, tag: String, remedy: String) throws {
        let lines = ConfigurationBench.lines(ConfigurationBench.start + text)
        let line = try #require(lines.first { $0.contains("\"\(tag)\" is not supported here") }, "\(lines)")
        #expect(line.hasPrefix("f:3:") && line.contains(remedy), "\(line)")
    }

    @Test("Tags of YAML itself, and quoted exclamation marks, are no faults")
    func standard() {
        for text in ["log: { level: !!str info }", "log: { level: ! info }", "log: { level: '!secret' }"] {
            let lines = ConfigurationBench.lines(ConfigurationBench.start + text)
            #expect(!lines.contains { $0.contains("is not supported here") }, "\(lines)")
        }
    }
}

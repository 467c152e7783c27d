import BeaconMonitoring
import BeaconRadio
import Testing

@Suite("Source specification")
struct SourceSpecificationTests {
    @Test(
        "The forms of the command line are distinguished, and an empty one is the first radio",
        arguments: [
            ("auto", SourceSpecification.auto), ("", .auto), ("hci", .hci(adapters: nil)),
            ("hci:hci1", .hci(adapters: "hci1")),
            ("bluez", .bluez(adapters: nil)), ("bluez:hci0", .bluez(adapters: "hci0")),
            ("simulation:museum", .simulation("museum")), ("simulation:a:b.json", .simulation("a:b.json")),
            ("hcidump.txt", .file(path: "hcidump.txt")), ("a:b", .file(path: "a:b")), ("-", .file(path: "-")),
            ("simulation", .file(path: "simulation")),
        ])
    func forms(text: String, expected: SourceSpecification) {
        #expect(SourceSpecification(text) == expected)
    }

    @Test("An invalid adapter name and an unknown scenario cause errors with a remedy")
    func errors() {
        #expect {
            _ = try SourceReader(.hci(adapters: "usb0"))
        } throws: { error in
            (error as? RadioError)?.code == .failed && "\(error)".contains("beacon doctor")
        }
        #expect {
            _ = try SourceReader(.simulation("musem"))
        } throws: { error in
            (error as? SourceError)?.code == .noScenario && "\(error)".contains("department-store")
        }
    }
}

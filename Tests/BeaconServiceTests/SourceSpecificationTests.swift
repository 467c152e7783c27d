import BeaconService
import Testing

@Suite("Source specification")
struct SourceSpecificationTests {
    @Test(
        "The forms of the command line are told apart",
        arguments: [
            ("auto", SourceSpecification.auto), ("hci", .hci(adapter: nil)), ("hci:hci1", .hci(adapter: "hci1")),
            ("bluez", .bluez(adapter: nil)), ("bluez:hci0", .bluez(adapter: "hci0")),
            ("simulation:museum", .simulation("museum")), ("simulation:a:b.json", .simulation("a:b.json")),
            ("hcidump.txt", .file(path: "hcidump.txt")), ("a:b", .file(path: "a:b")), ("-", .file(path: "-")),
            ("simulation", .file(path: "simulation")),
        ])
    func forms(text: String, expected: SourceSpecification) {
        #expect(SourceSpecification(text) == expected)
    }

    @Test("A radio that is not there yet, and a scenario that is not, are told with what to do")
    func errors() {
        #expect {
            _ = try OpenSource(.auto)
        } throws: { error in
            (error as? SourceError)?.code == .noRadio && "\(error)".contains("simulation:museum")
        }
        #expect {
            _ = try OpenSource(.simulation("musem"))
        } throws: { error in
            (error as? SourceError)?.code == .noScenario && "\(error)".contains("department-store")
        }
    }
}

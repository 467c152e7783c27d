import BeaconModel
import Testing

@testable import LinuxRadio

@Suite("Answers of Bluetooth's management")
struct ManagementAnswerTests {
    /// Read Controller Information of hci1: 5.2, Low Energy supported, powered, with empty names.
    private static let information: [UInt8] =
        [0x01, 0x00, 0x01, 0x00, 0x1B, 0x01, 0x04, 0x00, 0x00]
        + [0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00, 0x0B, 0xF1, 0x05, 0xFF, 0xFE, 0x01, 0x00, 0x01, 0x02, 0x00, 0x00]
        + [UInt8](repeating: 0, count: 263)

    @Test("An adapter's address, version and settings are read")
    func information() throws {
        let answer = try #require(ManagementAnswer(Self.information, to: .information, adapter: 1))
        let information = try #require(answer.information(index: 1))
        #expect(information.name == "hci1")
        #expect(information.address.description == "00:1a:7d:da:71:13")
        #expect(information.versionName == "5.2")
        #expect(information.supported.contains(.lowEnergy))
        #expect(information.current.contains(.powered))
    }

    @Test("The list has as many adapters as its count, and no more than its bytes hold")
    func list() throws {
        let whole: [UInt8] = [1, 0, 0xFF, 0xFF, 9, 0, 3, 0, 0, 2, 0, 0, 0, 1, 0]
        #expect(ManagementAnswer(whole, to: .adapters, adapter: 0xFFFF)?.adapters == [0, 1])
        let cut = Array(whole.dropLast(2))
        #expect(ManagementAnswer(cut, to: .adapters, adapter: 0xFFFF)?.adapters == [0])
    }

    @Test("A question has its opcode, the adapter and no parameters")
    func question() {
        #expect(ManagementAnswer.question(.information, adapter: 1) == [4, 0, 1, 0, 0, 0])
    }

    @Test("Events, answers to other questions, refusals and truncated packets are no answer")
    func others() {
        let added: [UInt8] = [4, 0, 1, 0, 0, 0]
        #expect(ManagementAnswer(added, to: .information, adapter: 1) == nil)
        #expect(ManagementAnswer(Self.information, to: .adapters, adapter: 1) == nil)
        #expect(ManagementAnswer(Self.information, to: .information, adapter: 0) == nil)
        var refused = Self.information
        refused[8] = 0x14
        #expect(ManagementAnswer(refused, to: .information, adapter: 1) == nil)
        for count in 0..<26 {
            let cut = ManagementAnswer(Array(Self.information[..<count]), to: .information, adapter: 1)
            #expect(cut?.information(index: 1) == nil)
        }
    }

    @Test("An adapter without Low Energy is a problem, one that is off a warning, and no adapter a problem")
    func findings() {
        let good = AdapterInformation(
            index: 0, addressBits: 1, version: 9, supported: [.powered, .lowEnergy], current: [.powered, .lowEnergy])
        var off = good
        off.current = []
        var classic = good
        classic.supported = .powered
        #expect(AdapterCheck(adapters: [good, off, classic]).findings().map(\.level) == [.ok, .warning, .problem])
        #expect(AdapterCheck(adapters: []).findings().map(\.level) == [.problem])
    }
}

import BeaconModel
import BeaconRadio
import LinuxRadio
import Testing

struct RadioSelectionTests {
    @Test("Names are numbers or addresses")
    func namesAreNumbersOrAddresses() throws {
        let selection = try RadioSelection(.hci, named: "hci1,00:1a:7d:da:71:13")
        let address = try #require(DeviceAddress("00:1A:7D:DA:71:13"))
        #expect(selection.adapters == [.index(1), .address(address)])
    }

    @Test("No name means the first adapter")
    func noNameMeansTheFirstAdapter() throws {
        #expect(try RadioSelection(.auto, named: nil).adapters.isEmpty)
    }

    @Test("Invalid adapter names are refused", arguments: ["usb0", "hci", "hci-1", "hci99999", "00:1a:7d:da:71"])

    func invalidNamesAreRefused(text: String) {
        #expect {
            try RadioSelection(.hci, named: text)
        } throws: { error in
            (error as? RadioError)?.message.contains("\"\(text)\" names no adapter") == true
        }
    }
}

import BeaconModel
import BeaconRadio
import Foundation
import LinuxRadio
import TestSupport
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

    @Test("The kernel's list says at once whether there can be an adapter")
    func presence() throws {
        let folder = try TemporaryFolder()
        #expect(!RadioSelection.hasAdapter(named: nil, root: folder.url.path))
        // A connection of an adapter that has gone is no adapter.
        for (name, isThere) in [("hci1:64", false), ("hci1", true)] {
            try FileManager.default.createDirectory(
                at: folder.url.appendingPathComponent("sys/class/bluetooth/\(name)"), withIntermediateDirectories: true)
            #expect(RadioSelection.hasAdapter(named: nil, root: folder.url.path) == isThere)
        }
        for (names, isThere) in [
            ("hci1", true), ("hci0", false), ("hci0,hci1", true), ("00:1A:7D:DA:71:13", true), ("nonsense", true),
        ] {
            #expect(RadioSelection.hasAdapter(named: names, root: folder.url.path) == isThere, "\(names)")
        }
    }
}

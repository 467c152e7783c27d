import Foundation
import Testing

@testable import BeaconConfiguration

@Suite("The time zone of the machine")
struct ZoneVariableTests {
    private static let zones = ["/zones/Asia/Tokyo", "/zones/Europe/Berlin", "/zones/UTC", "/elsewhere/Tokyo"]
    private let variable = ZoneVariable(folder: "/zones") { zones.contains($0) }

    @Test(
        "The C library knows names, paths and POSIX rules",
        arguments: [
            "", ":", "Asia/Tokyo", ":Asia/Tokyo", "/elsewhere/Tokyo", ":/elsewhere/Tokyo", "UTC", "GMT", "UTC0",
            "JST-9",
            "JST-9:00", "JST-09:00:00", "<+09>-9", "<-03>+3", "EST5EDT", "EST5EDT4", "CET-1CEST",
            "CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST-2,M3.5.0/2,M10.5.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3",
            "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "IST-2IDT,J60/2:30,299", "CET-1CEST,0/0,J365/23",
        ])
    func known(_ text: String) { #expect(variable.fault(text) == nil) }

    @Test(
        "Any other text is reported as unknown",
        arguments: [
            "Europe/Berlim", "Berlin", "asia/tokyo", "JST", "JST-9,", "JS-9", "JST-25", "JST-9:60", "JST+", "9",
            "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
            "CET-1CEST,J0,J366", "CET-1CEST,M3.5.0/2:99,M10.5.0", "<+09-9", "nonsense", "/nowhere/Tokyo", "Tokyo/Asia",
        ])
    func unknown(_ text: String) {
        let fault = variable.fault(text) ?? ""
        #expect(
            fault.contains(
                "the time zone \"\(text)\" is not known, and the C library may use UTC instead; write the name"),
            "\(fault)")
    }

    @Test("A machine without zone data gets a hint to install it")
    func noData() {
        let fault = ZoneVariable(folder: "/zones") { _ in false }.fault("Europe/Berlin") ?? ""
        #expect(fault.hasSuffix("/zones has no time zones: install tzdata"), "\(fault)")
    }
}

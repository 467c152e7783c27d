import BeaconModel
import BeaconSupport
import Testing

@Suite("Contents of adverts, read and written")
struct AdvertContentsTests {
    @Test("A short UUID equals its long form, and is written in its shortest form")
    func uuids() throws {
        let short = ServiceUUID(short: 0x180D)
        #expect(ServiceUUID("0000180d-0000-1000-8000-00805F9B34FB") == short)
        #expect(ServiceUUID("0000180D") == short)
        #expect(ServiceUUID(bytes: [0x18, 0x0D]) == short)
        #expect(short.bytes == [0x18, 0x0D])
        #expect("\(short)" == "180D")
        #expect("\(ServiceUUID(short: 0x12345678))" == "12345678")
        let long = try #require(ServiceUUID("68753A44-4D6F-1226-9C60-0050E4C00067"))
        #expect(ServiceUUID(bytes: long.bytes) == long)
        #expect(long.bytes.count == 16)
        for text in ["", "18", "180", "180G", "+80D", "180D5", "68753A44-4D6F-1226-9C60"] {
            #expect(ServiceUUID(text) == nil)
        }
        #expect(ServiceUUID(bytes: [1, 2, 3]) == nil)
    }

    @Test("Each structure is read, in each width")
    func structures() {
        let long: [UInt8] = (1...16).map { UInt8($0) }
        let bytes: [UInt8] =
            [2, 1, 6] + [5, 2, 0x0D, 0x18, 0x0F, 0x18] + [5, 5, 4, 3, 2, 1] + [17, 6] + long
            + [3, 0x14, 0x05, 0x18] + [4, 0x16, 0xAA, 0xFE, 9] + [6, 0x20, 4, 3, 2, 1, 8] + [2, 0x0A, 0xF4]
            + [5, 0xFF, 0x59, 0, 1, 2] + [3, 8, 0x4C, 0x61]
        let contents = AdvertContents(advert: bytes.span.bytes)
        #expect(contents.services.map { "\($0)" }.prefix(3) == ["180D", "180F", "01020304"])
        #expect(contents.services.last?.bytes == long.reversed())
        #expect(contents.solicitedServices == [ServiceUUID(short: 0x1805)])
        #expect(contents.serviceData == [ServiceUUID(short: 0xFEAA): [9], ServiceUUID(short: 0x0102_0304): [8]])
        #expect(contents.transmitPower == -12)
        #expect(contents.manufacturerData == [0x59, 0, 1, 2])
        #expect(contents.localName == "La")
    }

    @Test("Written contents are read back, for any number of services and any length of the name")
    func roundTrip() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            let name = String((0..<Int(random.next() % 34)).map { _ in random.next() % 4 == 0 ? "é" : "a" })
            let services = (0..<Int(random.next() % 8)).map { _ in
                random.next() % 4 == 0
                    ? ServiceUUID(high: random.next(), low: random.next())
                    : ServiceUUID(
                        short: UInt32(
                            truncatingIfNeeded: random.next() % 2 == 0 ? random.next() & 0xFFFF : random.next()))
            }
            let frame = IBeaconFrame(
                identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)
            let advert = OutgoingAdvert(
                frame: random.next() % 2 == 0 ? frame : nil, localName: name.isEmpty ? nil : name, services: services)
            #expect(advert.advert.count <= 31 && advert.scanResponse.count <= 31)
            let read = AdvertContents(advert: advert.advert.span.bytes)
                .merging(AdvertContents(advert: advert.scanResponse.span.bytes))
            if advert.isWhole {
                #expect(Set(read.services) == Set(services))
                #expect(read.localName == advert.localName)
            } else {
                #expect(Set(read.services).isSubset(of: services))
                #expect(name.hasPrefix(read.localName ?? ""))
            }
            #expect(IBeaconFrame(advert: advert.advert.span.bytes) == advert.frame)
        }
    }

    @Test("A complete name replaces a shortened one in either packet, and an empty one counts as none")
    func names() {
        let read = { (bytes: [UInt8]) in AdvertContents(advert: bytes.span.bytes) }
        let short = read([3, 8, 0x50, 0x6F])
        let whole = read([4, 9, 0x50, 0x6F, 0x6C])
        #expect(short.localName == "Po" && short.isNameShortened)
        #expect(short.merging(whole).localName == "Pol" && whole.merging(short).localName == "Pol")
        #expect(read([1, 9]).merging(whole).localName == "Pol")
        #expect(read([3, 8, 0x50, 0x6F, 4, 9, 0x50, 0x6F, 0x6C]).localName == "Pol")
        #expect(read([3, 0x21, 0x0D, 0x18]).serviceData.isEmpty)
    }

    @Test("Two long service UUIDs need two packets")
    func longServices() {
        let services = [ServiceUUID(high: 1, low: 2), ServiceUUID(high: 3, low: 4)]
        let advert = OutgoingAdvert(frame: nil, localName: nil, services: services)
        #expect(advert.isWhole)
        #expect(AdvertContents(advert: advert.advert.span.bytes).services == [services[0]])
        #expect(AdvertContents(advert: advert.scanResponse.span.bytes).services == [services[1]])
    }

    @Test("A name that is too long is cut between two characters, and marked as shortened")
    func longName() {
        let advert = OutgoingAdvert(frame: nil, localName: String(repeating: "é", count: 20), services: [])
        #expect(!advert.isWhole)
        #expect(advert.scanResponse.prefix(2) == [29, 8])
        #expect(AdvertContents(advert: advert.scanResponse.span.bytes).localName == String(repeating: "é", count: 14))
    }
}

import BeaconModel
import Testing

@Suite("Tags and their keys")
struct IdentityKeyTests {
    private static func block(_ high: UInt64, _ low: UInt64) -> AES128.Block { AES128.Block(high: high, low: low) }

    @Test("AES-128 gives the results of FIPS 197, B and C.1")
    func aes() {
        let cipher = AES128(key: Self.block(0x2b7e_1516_28ae_d2a6, 0xabf7_1588_09cf_4f3c))
        #expect(
            cipher.encrypt(Self.block(0x3243_f6a8_885a_308d, 0x3131_98a2_e037_0734))
                == Self.block(0x3925_841d_02dc_09fb, 0xdc11_8597_196a_0b32))
        let other = AES128(key: Self.block(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f))
        #expect(
            other.encrypt(Self.block(0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff))
                == Self.block(0x69c4_e0d8_6a7b_0430, 0xd8cd_b780_70b4_c55a))
    }

    @Test("A key resolves the address of the Core Specification (Vol 3, Part H, D.7), and reversed another one")
    func addresses() throws {
        let key = try #require(IdentityResolvingKey("ec0234a357c8ad05341010a60a397d9b"))
        let address = try #require(DeviceAddress("70:81:94:0D:FB:AA", kind: .random))
        let other = try #require(DeviceAddress("70:81:94:a0:cd:8f", kind: .random))
        #expect(AddressResolver(key).matches(address) && !AddressResolver(key).matches(other))
        #expect(AddressResolver(key.reversed).matches(other) && !AddressResolver(key.reversed).matches(address))
        #expect(AddressResolver(key).address(random: 0x708194) == address)
        #expect(AddressResolver(key).address(random: 0xF08194) == address)
    }

    @Test("A key is read as hexadecimal digits or base64, with or without a prefix")
    func reading() throws {
        let key = IdentityResolvingKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
        for text in [
            "ec0234a357c8ad05341010a60a397d9b", "EC0234A357C8AD05341010A60A397D9B",
            "irk:ec0234a357c8ad05341010a60a397d9b", "7AI0o1fIrQU0EBCmCjl9mw==", "IRK:7AI0o1fIrQU0EBCmCjl9mw==",
        ] {
            #expect(IdentityResolvingKey(text) == key, "\(text)")
        }
        for text in [
            "", "irk:", "ec0234a357c8ad05341010a60a397d9", "ec0234a357c8ad05341010a60a397d9b0",
            "gc0234a357c8ad05341010a60a397d9b", "7AI0o1fIrQU0EBCmCjl9mw", "7AI0o1fIrQU0EBCmCjl9m===",
            "7AI0o1fIrQU0EBCmCjl9 w==", "ec0234a357c8ad05341010a60a397d9b==", "ｅc0234a357c8ad05341010a60a397d9b",
        ] {
            #expect(IdentityResolvingKey(text) == nil, "\(text)")
        }
    }

    @Test("No text shows a key")
    func hidden() throws {
        let key = IdentityResolvingKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
        let tag = try #require(DeviceTag(name: "phone", keys: [key]))
        var dumped = ""
        dump(tag, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\(tag)", String(reflecting: tag), dumped] {
            #expect(!text.contains("17006") && !text.lowercased().contains("ec02"), "\(text)")
            #expect(!text.contains("\(0xec02_34a3_57c8_ad05 as UInt64)"), "\(text)")
        }
    }

    @Test("The made-up identity is the same in both byte orders, and has version 8 and a static address")
    func identity() throws {
        let key = IdentityResolvingKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
        let tag = try #require(DeviceTag(name: "phone", keys: [key]))
        let other = try #require(DeviceTag(name: "other", keys: [key.reversed, IdentityResolvingKey(high: 1, low: 2)]))
        #expect(tag.identity == other.identity && tag.address == other.address)
        #expect(tag.identity.major == 0 && tag.identity.minor == 0)
        let text = Array(tag.identity.uuid.description)
        #expect(text[14] == "8" && "89ab".contains(text[19]))
        #expect(tag.address.kind == .randomIdentity && tag.address.bits >> 46 == 3)
        #expect(DeviceTag(name: "none", keys: []) == nil)
        let address = try #require(DeviceAddress("aa:bb:cc:dd:ee:ff"))
        let fixed = try #require(DeviceTag(name: "watch", keys: [], fixedAddress: address))
        #expect(fixed.identity != tag.identity && fixed.address.bits != address.bits)
        let sighting = Sighting(
            tag, time: .zero, receiver: ReceiverID(0), rssi: SignalStrength(rawValue: -60))
        #expect(sighting.isOfTag)
    }

    @Test("Only a random or unspecified address with 01 in its highest bits may be resolvable")
    func resolvable() {
        for kind in DeviceAddress.Kind.allCases {
            for top in UInt64(0)...3 {
                let address = DeviceAddress(bits: top << 46 | 5, kind: kind)
                #expect(address.isResolvable == (top == 1 && [.random, .unspecified].contains(kind)), "\(kind) \(top)")
            }
        }
    }
}

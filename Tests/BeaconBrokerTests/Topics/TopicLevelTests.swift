import BrokerTestSupport
import Testing

@testable import BeaconBroker

@Suite("Topic levels")
struct TopicLevelTests {
    @Test(
        "Characters that a topic or a tool would misread are escaped, and no others",
        arguments: [
            ("hall", "hall"), ("Büro-2_a.b~'", "Büro-2_a.b~'"), ("Ann's keys", "Ann's%20keys"), ("a/b", "a%2Fb"),
            ("+", "%2B"), ("#", "%23"), ("100%", "100%25"), ("a\u{0}b\n", "a%00b%0A"), ("a\u{2028}b", "a%E2%80%A8b"),
            ("", "%"), ("%", "%25"), ("$SYS", "$SYS"), ("鍵", "鍵"),
        ])
    func escape(name: String, level: String) { #expect(TopicLevel.escape(name) == level) }

    @Test("Different names give different levels")
    func injective() {
        var levels: [String: String] = [:]
        for name in names(of: ["a", "/", "%", "2", "F", "+", " ", "0"]) {
            #expect(levels.updateValue(name, forKey: TopicLevel.escape(name)) == nil, "\(name)")
        }
    }

    @Test(
        "A base that is not a topic is refused",
        arguments: ["", "/a", "a/", "a//b", "a/+", "#", "$SYS/a", "a\u{0}", String(repeating: "a", count: 40_000)])
    func badBase(topic: String) { #expect(TopicLevel.mistake(inTopic: topic) != nil) }

    @Test("A base may be any other topic", arguments: ["a", "a/b/c", "Büro/zwei", "a b"])
    func goodBase(topic: String) { #expect(TopicLevel.mistake(inTopic: topic) == nil) }
}

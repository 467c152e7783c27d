import Foundation

/// Programs that were built with the tests.
public enum Product {
    /// Returns where one is: beside the test bundle itself.
    public static func path(_ name: String) -> String {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let own = bundle ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "")
        return own.deletingLastPathComponent().appendingPathComponent(name).path
    }
}

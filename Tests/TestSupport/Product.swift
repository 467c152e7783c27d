import Foundation

/// Programs that were built with the tests.
public enum Product {
    /// Returns the path of a program: beside the test program.
    public static func path(_ name: String) -> String {
        // Do not use `Bundle.allBundles`, which crashes in Swift 6.2.3's Foundation for arm64.
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return own.deletingLastPathComponent().appendingPathComponent(name).path
    }
}

internal import DelegateCheck
internal import SwiftSyntax

/// A rule that reports the names of frameworks that do not exist on Linux.
struct ForeignNameRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let imported = Set(file.nodes(ImportDeclSyntax.self).compactMap { $0.path.first?.name.bareText })
        let names = UnavailableNames(file)
        let uses = Dictionary(grouping: file.live.compactMap(names.use), by: \.name)
        for (name, uses) in uses {
            guard let first = uses.min(by: { $0.offset < $1.offset }),
                !["Combine", "CoreFoundation"].contains(first.framework) || !imported.contains(first.framework ?? "")
            else { continue }
            let lines = Set(uses.map { file.source.place(of: $0.offset).line }).count
            let more = lines > 1 ? " (on \(lines) lines)" : ""
            guard let framework = first.framework else {
                findings.decide(
                    at: first.offset, "'\(name)' is declared only in a condition that excludes Linux\(more)",
                    "declare it for Linux too, or put this into the same condition")
                continue
            }
            let remedy = Self.remedies[framework] ?? "put it in #if canImport(\(framework)), or leave the file out"
            findings.decide(
                at: first.offset,
                first.isHidden
                    ? "'\(name)' is declared only where \(framework) exists\(more)"
                    : "'\(name)' of \(framework) does not exist on Linux\(more)",
                first.isHidden ? "put this in #if canImport(\(framework)), with a branch for Linux" : remedy)
        }
        return findings
    }

    /// Returns the framework of a name, if the framework does not exist on Linux.
    ///
    /// - Parameter imported: the modules that the file imports on any system. They are needed because apps also use
    ///   short prefixes.
    static func framework(of name: String, imported: Set<String>) -> String? {
        // Other packages also use names such as View, State and Text.
        if LinuxNames.combine.contains(name) { return "Combine" }
        if let framework = names[name], framework != "SwiftUI" || imported.contains(framework) { return framework }
        // The Logger of swift-log exists on Linux, and packages have their own.
        let missing = imported.filter { AppleModule($0) != nil && $0 != "Combine" }
        let isKnown = imported.subtracting(missing).isSubset(of: LinuxNames.modules)
        if name == "Logger", isKnown || !missing.isDisjoint(with: ["os", "OSLog"]) { return "os" }
        if known.contains(name) { return nil }
        for (prefix, framework) in prefixes where name.hasPrefix(prefix) {
            // `UIView`, but neither `UInt` nor `UIDS`.
            let rest = name.dropFirst(prefix.count).prefix(2)
            guard rest.first?.isUppercase ?? false, rest.last?.isLowercase ?? false else { continue }
            return framework
        }
        for (prefix, framework) in importedPrefixes where name.hasPrefix(prefix) && imported.contains(framework) {
            return framework
        }
        if let framework = missing.first(where: { name.hasPrefix($0.lowercased() + "_") }) { return framework }
        // Any other type that Linux lacks is from a framework that the file imports, if it imports only known modules.
        guard isKnown, LinuxNames.isMissing(name) else { return nil }
        return missing.subtracting(["UIKit", "SwiftUI", "AppKit", "Cocoa", "IOKit"]).min() ?? missing.max()
    }

    static let prefixes: [(String, String)] = [
        ("UI", "UIKit"), ("MK", "MapKit"), ("UN", "UserNotifications"), ("AV", "AVFoundation"), ("WK", "WebKit"),
        ("CA", "QuartzCore"), ("CG", "CoreGraphics"), ("CF", "CoreFoundation"), ("kCF", "CoreFoundation"),
        ("kSec", "Security"), ("Sec", "Security"), ("NSManagedObject", "CoreData"), ("NSFetch", "CoreData"),
        ("NSPersistent", "CoreData"), ("NSLayout", "UIKit"),
    ]

    /// Prefixes that count only if the framework is imported.
    private static let importedPrefixes: [(String, String)] = [
        ("SK", "StoreKit"), ("SK", "SpriteKit"), ("CX", "CallKit"), ("CT", "CoreTelephony"), ("CM", "CoreMotion"),
        ("CI", "CoreImage"), ("CN", "Contacts"), ("AR", "ARKit"), ("SCN", "SceneKit"), ("HK", "HealthKit"),
        ("EK", "EventKit"), ("NI", "NearbyInteraction"), ("PK", "PassKit"), ("BG", "BackgroundTasks"),
        ("MC", "MultipeerConnectivity"), ("LA", "LocalAuthentication"), ("SF", "SafariServices"),
        ("WC", "WatchConnectivity"), ("MF", "MessageUI"), ("PH", "Photos"), ("NF", "CoreNFC"),
        ("AS", "AuthenticationServices"),
    ]

    /// Names with such a prefix that exist on Linux.
    private static let known: Set<String> = [
        "CGFloat", "CGPoint", "CGRect", "CGSize", "CGRectEdge",
        // The rule for attributes handles this name.
        "UIApplicationMain",
    ]

    static let names: [String: String] = [
        "AVURLAsset": "AVFoundation", "CFUUIDCreate": "CoreFoundation", "NSUserActivity": "UIKit",
        "NSItemProvider": "UIKit", "NSEntityDescription": "CoreData",
        "NSLayoutConstraint": "UIKit", "NSMutableParagraphStyle": "UIKit", "NSTextAttachment": "UIKit",
        "View": "SwiftUI",
        "State": "SwiftUI", "StateObject": "SwiftUI", "ObservedObject": "SwiftUI", "EnvironmentObject": "SwiftUI",
        "Binding": "SwiftUI", "AppStorage": "SwiftUI", "Color": "SwiftUI", "Text": "SwiftUI", "VStack": "SwiftUI",
        "HStack": "SwiftUI", "NavigationView": "SwiftUI", "WindowGroup": "SwiftUI", "Scene": "SwiftUI",
        "App": "SwiftUI", "ViewModifier": "SwiftUI", "ViewBuilder": "SwiftUI", "Environment": "SwiftUI",
        "Button": "SwiftUI", "Image": "SwiftUI", "List": "SwiftUI", "ForEach": "SwiftUI", "ZStack": "SwiftUI",
        "Form": "SwiftUI", "NavigationStack": "SwiftUI", "NavigationLink": "SwiftUI", "Spacer": "SwiftUI",
        "GeometryReader": "SwiftUI", "Toggle": "SwiftUI", "TextField": "SwiftUI", "FocusState": "SwiftUI",
        "PreviewProvider": "SwiftUI", "Preview": "SwiftUI", "ScenePhase": "SwiftUI", "withAnimation": "SwiftUI",
        "AudioServicesPlaySystemSound": "AudioToolbox", "SystemSoundID": "AudioToolbox", "IBOutlet": "UIKit",
        "objc_getAssociatedObject": "ObjectiveC", "objc_setAssociatedObject": "ObjectiveC",
        "objc_sync_enter": "ObjectiveC", "objc_sync_exit": "ObjectiveC", "OSLog": "os", "OSLogType": "os",
        "os_unfair_lock": "os", "os_log": "os", "os_signpost": "os", "OSSignposter": "os",
        "OSAllocatedUnfairLock": "os",
    ]

    private static let remedies = [
        "Combine": "depend on the product Combine of swift-beacon, and import Combine",
        "CoreFoundation": "import CoreFoundation, and use no Foundation type in its place",
        "CoreData": "store it another way, for instance with GRDB",
        "UserNotifications": "put it in #if canImport(UserNotifications), or notify through swift-beacon",
        "os": "give it its own line, or use print or the Logger of swift-log",
        "Security": "store it another way, for instance in a file",
    ]
}

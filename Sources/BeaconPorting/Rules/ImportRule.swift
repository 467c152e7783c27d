internal import DelegateCheck
internal import SwiftSyntax

/// A rule that imports Apple's frameworks only on systems that have them.
struct ImportRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let imports = file.nodes(ImportDeclSyntax.self)
        let modules = Set(imports.compactMap { Self.module($0) })
        let words = FileWords(file)
        for declaration in imports {
            // Combine is available for Linux.
            guard let module = Self.module(declaration), module != "Combine" else { continue }
            let offset = declaration.trimmedOffsets.lowerBound
            if Self.reactive.contains(module) {
                findings.decide(
                    at: offset, "'\(module)' is a package that the app must depend on",
                    "depend on it if it builds for Linux, else use the delegate's methods")
            } else if AppleModules.names.contains(module) || Self.frameworks.contains(module) {
                guard file.hasOwnLines(declaration) else {
                    findings.decide(at: offset, "'\(module)' does not exist on Linux", "give the import its own line")
                    continue
                }
                let others = Self.others(of: module, imported: modules, words: words)
                let other = others.isEmpty ? "" : ", and '\(others.joined(separator: "', '"))' elsewhere"
                findings.change(
                    file.wrap(declaration, in: "canImport(\(module))", else: others), at: offset,
                    "imported '\(module)' only where it exists\(other)")
            }
        }
        findings += networking(imports, modules, words, in: file)
        return findings
    }

    /// Returns the module that an import names.
    private static func module(_ declaration: ImportDeclSyntax) -> String? {
        declaration.path.first?.name.bareText
    }

    /// Returns the imports that replace a missing module's transitive imports.
    private static func others(of module: String, imported: Set<String>, words: FileWords) -> [String] {
        var others: [String] = []
        if module == "Darwin" { others.append("import Glibc") }
        let isInterface = ["UIKit", "SwiftUI", "AppKit", "MapKit", "WatchKit"].contains(module)
        if module == "MapKit", !imported.contains("CoreLocation"), words.hasPrefix("CL") {
            others.append("import CoreLocation")
        } else if isInterface, imported.isDisjoint(with: ["Foundation", "CoreLocation", "CoreBluetooth", "KumulosSDK"])
        {
            others.append("import Foundation")
        }
        if module == "SwiftUI", !imported.contains("Combine"), !words.isDisjoint(with: combineNames) {
            others.append("import Combine")
        }
        return others
    }

    /// Adds the module that contains the web types on Linux.
    private func networking(
        _ imports: [ImportDeclSyntax], _ modules: Set<String>, _ words: FileWords, in file: PortFile
    ) -> RuleFindings {
        var findings = RuleFindings()
        guard !modules.contains("FoundationNetworking"), !words.isDisjoint(with: Self.networkNames) else {
            return findings
        }
        let text = ["#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
            .joined(separator: file.newline)
        let summary = "imported 'FoundationNetworking', which contains URLSession on Linux"
        let last = imports.last { Self.isAtTop($0) && file.hasOwnLines($0) }
        if let last {
            let end = file.lineEnd(last.trimmedOffsets.upperBound)
            findings.change([Edit(range: end..<end, text: file.newline + text)], at: end, summary)
        } else if let first = file.source.tree.statements.first {
            let start = first.trimmedOffsets.lowerBound
            findings.change([Edit(range: start..<start, text: text + file.newline)], at: start, summary)
        }
        return findings
    }

    private static func isAtTop(_ declaration: ImportDeclSyntax) -> Bool {
        declaration.parent?.parent?.parent?.is(SourceFileSyntax.self) ?? false
    }

    private static let reactive: Set<String> = ["RxSwift", "RxCocoa", "ReactiveSwift", "ReactiveCocoa"]

    /// Frameworks that conditions seldom test for, in addition to those of the check.
    private static let frameworks: Set<String> = [
        "Accelerate", "AdSupport", "AudioToolbox", "AuthenticationServices", "AVKit", "CallKit", "Charts", "CloudKit",
        "Contacts", "ContactsUI", "CoreAudio", "CoreFoundation", "CoreHaptics", "CoreImage", "CoreML", "CoreServices",
        "CoreSpotlight", "CryptoKit", "EventKit", "ExternalAccessory", "FirebaseCore", "GameKit", "GLKit", "ImageIO",
        "Intents", "LocalAuthentication", "MediaPlayer", "MessageUI", "Messages", "MetalKit", "Metal",
        "NaturalLanguage",
        "Network", "NetworkExtension", "NotificationCenter", "Photos", "PhotosUI", "PlaygroundSupport", "PushKit",
        "QuickLook", "RealityKit", "Social", "Speech", "SystemConfiguration", "TVUIKit", "UniformTypeIdentifiers",
        "UserNotificationsUI", "Vision", "XCPlayground",
    ]

    private static let networkNames: Set<String> = [
        "URLSession", "URLRequest", "HTTPURLResponse", "URLSessionConfiguration", "URLSessionDataTask",
        "URLSessionDelegate", "URLSessionTask", "NSMutableURLRequest", "URLCache", "HTTPCookieStorage", "URLProtocol",
        "URLSessionDataDelegate", "URLSessionTaskDelegate", "NSURLConnection", "URLAuthenticationChallenge",
        "URLCredential", "URLSessionWebSocketTask",
    ]

    private static let combineNames: Set<String> = [
        "ObservableObject", "Published", "AnyCancellable", "PassthroughSubject", "CurrentValueSubject", "AnyPublisher",
        "ObservableObjectPublisher",
    ]
}

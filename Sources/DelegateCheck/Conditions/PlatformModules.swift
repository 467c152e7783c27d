/// A module of Apple's systems that does not exist on Linux.
///
/// Only such a module becomes a condition `canImport(…)` in ported code, and the evaluation of conditions reads the
/// same table. So Linux compiles nothing in the condition, and a second round or run changes nothing there.
package struct AppleModule: Hashable, Sendable {
    /// The name.
    package let name: String

    /// Creates a module from its name; nil if Linux may have a module of this name.
    package init?(_ name: String) {
        guard Self.names.contains(name) else { return nil }
        self.name = name
    }

    /// The names of all of them, `Combine` included: for Linux, it is a product that the app may lack.
    package static let names = Set(
        """
        ARKit AVFAudio AVFoundation AVKit AVRouting Accelerate Accessibility Accounts ActivityKit AdAttributionKit
        AdServices AdSupport AddressBook AddressBookUI AppClip AppIntents AppKit AppTrackingTransparency
        ApplicationServices AssetsLibrary AudioToolbox AudioUnit AuthenticationServices
        AutomaticAssessmentConfiguration BackgroundAssets BackgroundTasks BrowserEngineKit BusinessChat CFNetwork
        CallKit CarPlay Charts Cinematic ClassKit ClockKit CloudKit Cocoa Collaboration ColorSync Combine
        CommonCrypto Compression Contacts ContactsUI CoreAudio CoreAudioKit CoreAudioTypes CoreData CoreGraphics
        CoreHaptics CoreImage CoreMIDI CoreML CoreMedia CoreMotion CoreNFC CoreServices CoreSpotlight CoreTelephony
        CoreText CoreTransferable CoreVideo CoreWLAN CreateML CryptoKit CryptoTokenKit Darwin DataDetection
        DeveloperToolsSupport DeviceActivity DeviceCheck DeviceDiscoveryExtension DeviceDiscoveryUI DiskArbitration
        EventKit EventKitUI ExposureNotification ExtensionKit ExternalAccessory FamilyControls FileProvider
        FileProviderUI FinanceKit ForceFeedback FoundationModels GLKit GSS GameController GameKit GameplayKit
        GroupActivities HealthKit HealthKitUI HomeKit IOBluetooth IOKit IOSurface IdentityLookup IdentityLookupUI
        ImageIO ImagePlayground InputMethodKit Intents IntentsUI JavaScriptCore JournalingSuggestions
        LinkPresentation LiveCommunicationKit LocalAuthentication LocalAuthenticationEmbeddedUI LocationEssentials
        MLCompute MachO ManagedSettings ManagedSettingsUI MapKit Matter MatterSupport MediaAccessibility MediaPlayer
        MediaSetup MessageUI Messages Metal MetalFX MetalKit MetalPerformanceShaders MetalPerformanceShadersGraph
        MetricKit MobileCoreServices ModelIO MultipeerConnectivity MusicKit NaturalLanguage NearbyInteraction Network
        NetworkExtension NewsstandKit NotificationCenter OSLog ObjectiveC OpenAL OpenDirectory OpenGL OpenGLES PDFKit
        PHASE PassKit PencilKit Photos PhotosUI PlaygroundSupport ProximityReader PushKit PushToTalk Quartz
        QuartzCore QuickLook QuickLookThumbnailing QuickLookUI RealityFoundation RealityKit RelevanceKit ReplayKit
        RoomPlan SafariServices SafetyKit SceneKit ScreenCaptureKit ScreenTime ScriptingBridge Security
        SensitiveContentAnalysis SensorKit ServiceManagement SharedWithYou SharedWithYouCore ShazamKit Social
        SoundAnalysis Speech SpriteKit StickerKit StoreKit StoreKitTest SwiftData SwiftUI SwiftUICore Symbols
        SystemConfiguration SystemExtensions TVMLKit TVServices TVUIKit TabularData ThreadNetwork TipKit Translation
        TranslationUIProvider Twitter UIKit UniformTypeIdentifiers UserNotifications UserNotificationsUI
        VideoSubscriberAccount VideoToolbox Virtualization Vision VisionKit WatchConnectivity WatchKit WeatherKit
        WebKit WiFiAware WidgetKit WorkoutKit XCPlayground iAd os simd
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}

/// The modules that exist on Linux.
package enum LinuxModules {
    /// Modules that exist on iOS and on Linux, including this package's.
    package static let shared: Set<String> = [
        "CoreBluetooth", "CoreFoundation", "CoreLocation", "Dispatch", "Foundation", "Observation", "Swift",
        "_Concurrency",
    ]

    /// Other modules that exist on Linux without a further dependency: of Swift, of its C library and of this package.
    package static let others: Set<String> = [
        "BeaconDelivery", "BeaconEventStore", "BeaconMQTT", "BeaconMonitoring", "BeaconTestKit", "Builtin", "CRT",
        "Cxx", "CxxStdlib", "Distributed", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML", "Glibc", "KumulosSDK", "Musl", "RegexBuilder", "SwiftOnoneSupport",
        "Synchronization", "Testing", "XCTest", "_Differentiation", "_RegexParser", "_StringProcessing",
    ]
}

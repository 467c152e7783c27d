import BeaconTestKit

/// Checks an app in the forty situations, and prints what it does wrong. In a package of an app, this is a test: see
/// docs/background.md.
@main
struct BackgroundCheck {
    @MainActor
    static func main() async {
        let conformance = Conformance()
        let report = await conformance.run("Shop", scene: { (_: ShopApp, _) in }) { launch in
            ShopApp(hasScreen: !launch.isByEvent, notify: { conformance.note($0) })
        }
        for finding in report.findings + report.remarks { print(finding) }
    }
}

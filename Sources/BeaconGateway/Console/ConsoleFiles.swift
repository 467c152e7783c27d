import Crypto
import Foundation

/// The files of the console, as they lie in the program.
enum ConsoleFiles {
    /// A file.
    struct File: Sendable {
        var name: String
        /// The media type.
        var type: String
        var content: [UInt8]
        /// The tag by which a browser knows that it has the file already.
        var tag: String

        init(_ name: String, _ type: String, _ content: [UInt8]) {
            self.name = name
            self.type = type
            self.content = content
            tag = "\"" + SHA256.hash(data: content).prefix(12).map { String(format: "%02x", $0) }.joined() + "\""
        }
    }

    private static let script = "text/javascript; charset=utf-8"

    private static let style = "text/css; charset=utf-8"

    /// All of them: the page, its styles, its scripts.
    static let all = [
        File("index.html", "text/html; charset=utf-8", PackageResources.index_html),
        File("console.css", style, PackageResources.console_css),
        File("forms.css", style, PackageResources.forms_css),
        File("pages.css", style, PackageResources.pages_css),
        File("pictures.css", style, PackageResources.pictures_css),
        File("api.js", script, PackageResources.api_js),
        File("console.js", script, PackageResources.console_js),
        File("dom.js", script, PackageResources.dom_js),
        File("event-item.js", script, PackageResources.event_item_js),
        File("form.js", script, PackageResources.form_js),
        File("format.js", script, PackageResources.format_js),
        File("page-configure.js", script, PackageResources.page_configure_js),
        File("page-deliveries.js", script, PackageResources.page_deliveries_js),
        File("page-events.js", script, PackageResources.page_events_js),
        File("page-fleet.js", script, PackageResources.page_fleet_js),
        File("page-health.js", script, PackageResources.page_health_js),
        File("page-now.js", script, PackageResources.page_now_js),
        File("page-people.js", script, PackageResources.page_people_js),
        File("page-range.js", script, PackageResources.page_range_js),
        File("page-receivers.js", script, PackageResources.page_receivers_js),
        File("page-rules.js", script, PackageResources.page_rules_js),
        File("page-settings.js", script, PackageResources.page_settings_js),
        File("page-setup.js", script, PackageResources.page_setup_js),
        File("plan-live.js", script, PackageResources.plan_live_js),
        File("plan.js", script, PackageResources.plan_js),
        File("presence.js", script, PackageResources.presence_js),
        File("rule-form.js", script, PackageResources.rule_form_js),
        File("rule-history.js", script, PackageResources.rule_history_js),
        File("rule-words.js", script, PackageResources.rule_words_js),
        File("session.js", script, PackageResources.session_js),
        File("settings-apps.js", script, PackageResources.settings_apps_js),
        File("settings-beacons.js", script, PackageResources.settings_beacons_js),
        File("settings-list.js", script, PackageResources.settings_list_js),
        File("settings-places.js", script, PackageResources.settings_places_js),
        File("settings-plan.js", script, PackageResources.settings_plan_js),
        File("settings-regions.js", script, PackageResources.settings_regions_js),
        File("setup-first.js", script, PackageResources.setup_first_js),
        File("setup-heard.js", script, PackageResources.setup_heard_js),
        File("setup-review.js", script, PackageResources.setup_review_js),
        File("setup-source.js", script, PackageResources.setup_source_js),
        File("setup-wait.js", script, PackageResources.setup_wait_js),
        File("timeline.js", script, PackageResources.timeline_js),
        File("why.js", script, PackageResources.why_js),
    ]
}

// The preprocessor embeds the files (C23, 6.10.4). As a Swift array they would take a minute to compile.
#if !defined(__has_embed)
#error "#embed is missing: the console is compiled with the clang of Swift 6.2 or newer"
#endif

#include "CConsole.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "Files/index.html"
};
static const unsigned char console_css[] = {
#embed "Files/console.css"
};
static const unsigned char forms_css[] = {
#embed "Files/forms.css"
};
static const unsigned char pages_css[] = {
#embed "Files/pages.css"
};
static const unsigned char pictures_css[] = {
#embed "Files/pictures.css"
};
static const unsigned char api_js[] = {
#embed "Files/api.js"
};
static const unsigned char connection_fields_js[] = {
#embed "Files/connection-fields.js"
};
static const unsigned char console_js[] = {
#embed "Files/console.js"
};
static const unsigned char dom_js[] = {
#embed "Files/dom.js"
};
static const unsigned char event_item_js[] = {
#embed "Files/event-item.js"
};
static const unsigned char form_js[] = {
#embed "Files/form.js"
};
static const unsigned char format_js[] = {
#embed "Files/format.js"
};
static const unsigned char heard_list_js[] = {
#embed "Files/heard-list.js"
};
static const unsigned char in_app_css[] = {
#embed "Files/in-app.css"
};
static const unsigned char in_app_html[] = {
#embed "Files/in-app.html"
};
static const unsigned char in_app_js[] = {
#embed "Files/in-app.js"
};
static const unsigned char openapi_json[] = {
#embed "Files/openapi.json"
};
static const unsigned char page_configure_js[] = {
#embed "Files/page-configure.js"
};
static const unsigned char page_deliveries_js[] = {
#embed "Files/page-deliveries.js"
};
static const unsigned char page_events_js[] = {
#embed "Files/page-events.js"
};
static const unsigned char page_fleet_js[] = {
#embed "Files/page-fleet.js"
};
static const unsigned char page_health_js[] = {
#embed "Files/page-health.js"
};
static const unsigned char page_history_js[] = {
#embed "Files/page-history.js"
};
static const unsigned char page_now_js[] = {
#embed "Files/page-now.js"
};
static const unsigned char page_people_js[] = {
#embed "Files/page-people.js"
};
static const unsigned char page_range_js[] = {
#embed "Files/page-range.js"
};
static const unsigned char page_receivers_js[] = {
#embed "Files/page-receivers.js"
};
static const unsigned char page_rules_js[] = {
#embed "Files/page-rules.js"
};
static const unsigned char page_settings_js[] = {
#embed "Files/page-settings.js"
};
static const unsigned char page_setup_js[] = {
#embed "Files/page-setup.js"
};
static const unsigned char plan_live_js[] = {
#embed "Files/plan-live.js"
};
static const unsigned char plan_forecast_js[] = {
#embed "Files/plan-forecast.js"
};
static const unsigned char plan_rooms_js[] = {
#embed "Files/plan-rooms.js"
};
static const unsigned char plan_js[] = {
#embed "Files/plan.js"
};
static const unsigned char presence_js[] = {
#embed "Files/presence.js"
};
static const unsigned char rule_form_js[] = {
#embed "Files/rule-form.js"
};
static const unsigned char rule_history_js[] = {
#embed "Files/rule-history.js"
};
static const unsigned char rule_words_js[] = {
#embed "Files/rule-words.js"
};
static const unsigned char session_js[] = {
#embed "Files/session.js"
};
static const unsigned char settings_apps_js[] = {
#embed "Files/settings-apps.js"
};
static const unsigned char settings_beacons_js[] = {
#embed "Files/settings-beacons.js"
};
static const unsigned char settings_destinations_js[] = {
#embed "Files/settings-destinations.js"
};
static const unsigned char settings_keys_js[] = {
#embed "Files/settings-keys.js"
};
static const unsigned char settings_list_js[] = {
#embed "Files/settings-list.js"
};
static const unsigned char settings_places_js[] = {
#embed "Files/settings-places.js"
};
static const unsigned char settings_plan_js[] = {
#embed "Files/settings-plan.js"
};
static const unsigned char settings_regions_js[] = {
#embed "Files/settings-regions.js"
};
static const unsigned char settings_secrets_js[] = {
#embed "Files/settings-secrets.js"
};
static const unsigned char settings_sources_js[] = {
#embed "Files/settings-sources.js"
};
static const unsigned char settings_teach_js[] = {
#embed "Files/settings-teach.js"
};
static const unsigned char setup_choice_js[] = {
#embed "Files/setup-choice.js"
};
static const unsigned char setup_first_js[] = {
#embed "Files/setup-first.js"
};
static const unsigned char setup_heard_js[] = {
#embed "Files/setup-heard.js"
};
static const unsigned char setup_proxies_js[] = {
#embed "Files/setup-proxies.js"
};
static const unsigned char setup_receivers_js[] = {
#embed "Files/setup-receivers.js"
};
static const unsigned char setup_review_js[] = {
#embed "Files/setup-review.js"
};
static const unsigned char setup_search_js[] = {
#embed "Files/setup-search.js"
};
static const unsigned char setup_source_js[] = {
#embed "Files/setup-source.js"
};
static const unsigned char setup_wait_js[] = {
#embed "Files/setup-wait.js"
};
static const unsigned char timeline_js[] = {
#embed "Files/timeline.js"
};
static const unsigned char why_js[] = {
#embed "Files/why.js"
};

#define FILE_OF(NAME, CONTENT) {NAME, CONTENT, sizeof CONTENT}

static const struct beacon_console_file files[] = {
    FILE_OF("index.html", index_html),
    FILE_OF("console.css", console_css),
    FILE_OF("forms.css", forms_css),
    FILE_OF("pages.css", pages_css),
    FILE_OF("pictures.css", pictures_css),
    FILE_OF("api.js", api_js),
    FILE_OF("connection-fields.js", connection_fields_js),
    FILE_OF("console.js", console_js),
    FILE_OF("dom.js", dom_js),
    FILE_OF("event-item.js", event_item_js),
    FILE_OF("form.js", form_js),
    FILE_OF("format.js", format_js),
    FILE_OF("heard-list.js", heard_list_js),
    FILE_OF("in-app.css", in_app_css),
    FILE_OF("in-app.html", in_app_html),
    FILE_OF("in-app.js", in_app_js),
    FILE_OF("v1/openapi.json", openapi_json),
    FILE_OF("page-configure.js", page_configure_js),
    FILE_OF("page-deliveries.js", page_deliveries_js),
    FILE_OF("page-events.js", page_events_js),
    FILE_OF("page-fleet.js", page_fleet_js),
    FILE_OF("page-health.js", page_health_js),
    FILE_OF("page-history.js", page_history_js),
    FILE_OF("page-now.js", page_now_js),
    FILE_OF("page-people.js", page_people_js),
    FILE_OF("page-range.js", page_range_js),
    FILE_OF("page-receivers.js", page_receivers_js),
    FILE_OF("page-rules.js", page_rules_js),
    FILE_OF("page-settings.js", page_settings_js),
    FILE_OF("page-setup.js", page_setup_js),
    FILE_OF("plan-live.js", plan_live_js),
    FILE_OF("plan-forecast.js", plan_forecast_js),
    FILE_OF("plan-rooms.js", plan_rooms_js),
    FILE_OF("plan.js", plan_js),
    FILE_OF("presence.js", presence_js),
    FILE_OF("rule-form.js", rule_form_js),
    FILE_OF("rule-history.js", rule_history_js),
    FILE_OF("rule-words.js", rule_words_js),
    FILE_OF("session.js", session_js),
    FILE_OF("settings-apps.js", settings_apps_js),
    FILE_OF("settings-beacons.js", settings_beacons_js),
    FILE_OF("settings-destinations.js", settings_destinations_js),
    FILE_OF("settings-keys.js", settings_keys_js),
    FILE_OF("settings-list.js", settings_list_js),
    FILE_OF("settings-places.js", settings_places_js),
    FILE_OF("settings-plan.js", settings_plan_js),
    FILE_OF("settings-regions.js", settings_regions_js),
    FILE_OF("settings-secrets.js", settings_secrets_js),
    FILE_OF("settings-sources.js", settings_sources_js),
    FILE_OF("settings-teach.js", settings_teach_js),
    FILE_OF("setup-choice.js", setup_choice_js),
    FILE_OF("setup-first.js", setup_first_js),
    FILE_OF("setup-heard.js", setup_heard_js),
    FILE_OF("setup-proxies.js", setup_proxies_js),
    FILE_OF("setup-receivers.js", setup_receivers_js),
    FILE_OF("setup-review.js", setup_review_js),
    FILE_OF("setup-search.js", setup_search_js),
    FILE_OF("setup-source.js", setup_source_js),
    FILE_OF("setup-wait.js", setup_wait_js),
    FILE_OF("timeline.js", timeline_js),
    FILE_OF("why.js", why_js),
};

const struct beacon_console_file *beacon_console_files(size_t *count) {
    *count = sizeof files / sizeof files[0];
    return files;
}

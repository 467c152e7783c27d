"""`beacon proxy` with Home Assistant's integrations esphome and ibeacon."""

import base64
import os
import signal

from house import case
from programs import FOLDER, PROGRAMS, UUID, Program, environment, until

ADVERTS = r"has the adverts of hall"


def serve(*words):
    return Program(
        "proxy", PROGRAMS / "beacon", "proxy", "--source", "simulation:museum?loop", "--name", "hall", *words,
        environment=environment("proxy"))


@case("proxy")
def check_proxy(house):
    """Home Assistant finds and adds the proxy, and reconnects after kill -9 and with a key; ibeacon finds six beacons."""
    ha = house.home_assistant
    proxy = serve()
    try:
        found = house.comes(lambda: flows(ha, "zeroconf"), "Home Assistant finds the proxy on the network")
        added = ha.answer(found[0], {}) if found else ha.flow("esphome", {"host": "127.0.0.1", "port": 6053})
        house.check(added["type"] == "create_entry", "it adds it", added)
        house.comes(lambda: proxy.says(ADVERTS), "it gets its adverts")
        device = until(lambda: list(ha.devices("esphome").values()), "the proxy is not a device")[0]
        shown = device["sw_version"] or ""
        house.check(shown and shown == shown.strip(), "its version is shown", repr(shown))
        check_ibeacon(house)

        proxy.end(signal.SIGKILL)
        proxy = serve()
        house.comes(lambda: proxy.says(ADVERTS), "it gets the adverts again after kill -9")
        proxy.end()
        key = base64.b64encode(os.urandom(32)).decode()
        path = FOLDER / "proxy.key"
        path.write_text(key + "\n")
        path.chmod(0o600)
        proxy = serve("--key-file", path)
        asked = house.comes(lambda: flows(ha, "reauth"), "it asks for a new key")
        if asked:
            ha.answer(asked[0], {"noise_psk": key})
            house.comes(lambda: proxy.says(ADVERTS), "it gets the adverts with the key")
    finally:
        proxy.end()
        for entry in ha.entries("esphome") + ha.entries("ibeacon"):
            ha.request("DELETE", f"/api/config/config_entries/entry/{entry['entry_id']}")


def check_ibeacon(house):
    """Checks the ibeacon integration. It asks for the beacons' UUID, since they do not send names."""
    ha = house.home_assistant
    ha.flow("ibeacon", {})
    entry = ha.entries("ibeacon")[0]
    ha.flow(entry["entry_id"], {"new_uuid": UUID}, kind="options/flow")

    def trackers():
        return [name for name in list(ha.states) if name.startswith("device_tracker.") and ha.state(name) == "home"]
    house.comes(
        lambda: len(trackers()) == 6, "ibeacon finds the museum's six beacons with the allowed UUID", trackers, limit=120)


def flows(ha, source):
    return [
        flow for flow in ha.call("config_entries/flow/progress")
        if flow["handler"] == "esphome" and flow["context"]["source"] == source]

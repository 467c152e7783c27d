"""The handover of another program's entities after `beacond import`, with the steps of docs/import.md."""

import json
import re
import subprocess

from house import case
from programs import FOLDER, HANG, PASSWORD, PROGRAMS, UUID, environment

WATCH, PURSE = f"{UUID}-19-1", f"{UUID}-19-2"
COMPANION = f"""
mqtt: {{ host: 127.0.0.1, username: beacond, password: "{PASSWORD}" }}
floors: [{{ id: ground, rooms: [{{ name: Kitchen, points: [[0, 0], [5, 0], [5, 5], [0, 5]] }}] }}]
nodes: [{{ name: Stove, point: [1, 1, 1], floors: [ground] }}]
devices: [{{ id: "iBeacon:{WATCH}", name: Watch }}]
"""
ROOM_ASSISTANT = f"""
global: {{ instanceName: hall, integrations: [homeAssistant, bluetoothLowEnergy] }}
homeAssistant: {{ mqttUrl: "mqtt://127.0.0.1", mqttOptions: {{ username: beacond, password: "{PASSWORD}" }} }}
bluetoothLowEnergy: {{ allowlist: [{PURSE}], tagOverrides: {{ {PURSE}: {{ name: Purse }} }} }}
"""


def announcements():
    """Returns the retained announcements of both programs (ESPresense-companion, Models/AutoDiscovery.cs;
    room-assistant, integrations/home-assistant/entity-config.ts)."""
    watch, purse = f"iBeacon:{WATCH}", PURSE
    companion = {
        "name": "Watch", "unique_id": f"espresense-companion-{watch}", "state_topic": f"espresense/companion/{watch}",
        "json_attributes_topic": f"espresense/companion/{watch}/attributes", "source_type": "bluetooth_le",
        "device": {"name": "Watch", "manufacturer": "ESPresense", "model": "Companion", "sw_version": "1.0.0",
                   "identifiers": [f"espresense-{watch}"]},
        "origin": {"name": "ESPresense Companion"}}
    device = {"name": "Purse", "identifiers": [purse]}
    sensor = {
        "name": "Purse Room Presence", "unique_id": f"room-assistant-ble-{purse}", "device": device,
        "state_topic": f"room-assistant/sensor/ble-{purse}/state"}
    tracker = {
        "name": "Purse Tracker", "unique_id": f"room-assistant-ble-{purse}-tracker", "device": device,
        "source_type": "bluetooth_le", "payload_home": "true", "payload_not_home": "false",
        "state_topic": f"room-assistant/device_tracker/ble-{purse}-tracker/state"}
    topic = re.sub("[^a-z0-9]+", "_", f"espresense-{watch}".lower())
    return {
        f"homeassistant/device_tracker/{topic}/config": companion,
        f"homeassistant/sensor/room-assistant/ble-{purse}/config": sensor,
        f"homeassistant/device_tracker/room-assistant/ble-{purse}-tracker/config": tracker}


@case("import")
def check_import(house):
    """Entities of ESPresense-companion and room-assistant keep their ids, names, areas and history."""
    ha, broker = house.home_assistant, house.broker
    old = announcements()
    for topic, payload in old.items():
        broker.publish(topic, json.dumps(payload), retain=True)
    unique = {payload["unique_id"]: "" for payload in old.values()}

    def registered():
        return {entry["unique_id"]: entry for entry in ha.call("config/entity_registry/list") if entry["unique_id"] in unique}

    if not house.comes(lambda: len(registered()) == 3, "the former entities exist", registered):
        return
    for payload in old.values():
        value = "true" if "payload_home" in payload else "Kitchen"
        broker.publish(payload["state_topic"], value, retain=True)

    # The changes of a user must stay.
    area = ha.call("config/area_registry/create", name="Wardrobe")["area_id"]
    for number, (identifier, entry) in enumerate(sorted(registered().items())):
        unique[identifier] = entry["entity_id"].split(".")[0] + f".handed_over_{'abc'[number]}"
        ha.call(
            "config/entity_registry/update", entity_id=entry["entity_id"], new_entity_id=unique[identifier],
            name=f"Mine {number}", area_id=area)
    house.comes(
        lambda: all(ha.state(entity) in ("Kitchen", "home") for entity in unique.values()), "they have states",
        lambda: {entity: ha.state(entity) for entity in unique.values()})
    before = {entry["unique_id"]: (entry["id"], entry["device_id"]) for entry in registered().values()}

    # The other programs have ended. Their files become one configuration; here, all beacons are in the simulated air.
    for name, text in (("companion.yaml", COMPANION), ("local.yml", ROOM_ASSISTANT)):
        (FOLDER / name).write_text(text)
    variables, path = environment("imported"), FOLDER / "imported" / "beacond.yaml"
    done = subprocess.run(
        [PROGRAMS / "beacond", "import", FOLDER / "companion.yaml", FOLDER / "local.yml", "--output", path],
        env=variables, capture_output=True, text=True, timeout=HANG)
    house.check(done.returncode == 0 and path.exists(), "the import writes a configuration", done.stderr)
    text = path.read_text().replace("web: true", "web: false")
    for key, value in (("sources", "[air]"), ("places", "[{ name: hall, receivers: [air] }]")):
        text = re.sub(rf"(?m)^{key}:\n(  .*\n)+", f"{key}: {value}\n", text)

    # The steps of the page.
    retained = [
        topic for filter in ("homeassistant/+/+/config", "homeassistant/+/+/+/config")
        for topic, payload in broker.retained(filter).items() if "espresense-companion" in payload or "room-assistant" in payload]
    house.check(sorted(retained) == sorted(old), "the page's command finds the announcements", retained)
    for topic in retained:
        broker.publish(topic, '{"migrate_discovery": true}', retain=True)
    gateway = house.gateway(text, name="imported")
    gateway.program.says("Home Assistant")
    house.comes(lambda: {"Watch", "Purse"} <= set(ha.devices()), "the beacons are devices", ha.devices)
    for topic in retained:
        broker.publish(topic, "", retain=True)
    house.beacon(19, 1).comes()
    house.beacon(19, 2).comes()
    house.settle()

    def check_kept(when):
        now = registered()
        house.check(
            {identifier: entry["entity_id"] for identifier, entry in now.items()} == unique, f"{when}, each has its id",
            {identifier: entry["entity_id"] for identifier, entry in now.items()})
        house.check(
            all(entry["name"].startswith("Mine") and entry["area_id"] == area for entry in now.values()),
            f"{when}, each has its name and area", [(entry["name"], entry["area_id"]) for entry in now.values()])
        house.check(
            {identifier: (entry["id"], entry["device_id"]) for identifier, entry in now.items()} == before,
            f"{when}, they are the same entities of the same devices")
        trackers = [entity for entity in unique.values() if entity.startswith("device_tracker.")]
        house.comes(
            lambda: all(ha.state(entity) == "home" for entity in trackers), f"{when}, the trackers are home",
            lambda: {entity: ha.state(entity) for entity in trackers}, limit=30)
        house.comes(
            lambda: ha.state(room) == "hall", f"{when}, the sensor has the place", lambda: ha.state(room), limit=30)

    room = next(entity for entity in unique.values() if entity.startswith("sensor."))
    check_kept("after the handover")
    twice = [entity for entity in ha.entities() if re.search("_2$", entity)]
    house.check(not twice, "no entity exists twice", twice)
    history = ha.request("GET", f"/api/history/period?filter_entity_id={room}&minimal_response")
    states = [state["state"] for state in history[0]] if history else []
    house.check("Kitchen" in states and "hall" in states, "its history has both programs' states", states)
    house.check(not ha.troubles(), "Home Assistant logs no warning about a payload", ha.troubles()[:3])
    ha.end()
    ha.start()
    check_kept("after a restart of Home Assistant")

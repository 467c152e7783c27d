"""Discovery: the devices and entities that a user sees."""

import json

from house import BAG, CELLAR, FRONT_ROOM, LAMP, case, configuration, keys
from programs import UUID, setup

# All beacons of the museum. Its visitor reaches some of them only after a while.
MUSEUM = {"Amber": "1/1", "Fossil": "1/2", "Globe": "2/1", "Map": "2/2", "Clock": "3/1", "Loom": "3/2"}

# Browsers on other machines can open this console, so the devices' pages link to it.
CONSOLE = f'web: {{ listen: "0.0.0.0:8099", token-hash: {"0123456789abcdef" * 4} }}\n'


@case("setup", quick=True)
def check_setup(house):
    """The configuration that `beacond setup --home-assistant` writes, with the simulated museum of the README."""
    ha = house.home_assistant
    named = [word for name, values in MUSEUM.items() for word in ("--beacon", f"{name}={UUID}/{values}")]
    status, said, written = setup("beacond", "--source", "simulation:museum?loop", *named)
    house.check(status == 0 and written, "setup accepts the broker and writes a file", said)
    house.gateway(None)
    house.comes(lambda: set(MUSEUM) <= set(ha.devices()), "named beacons are devices", ha.devices)
    # Each Home Assistant has a zone with this name.
    house.check("home" not in ha.devices(), "no region has the name of Home Assistant's zone, home", list(ha.devices()))
    wanted = ["binary_sensor.amber", "sensor.amber_distance", "sensor.amber_proximity", "sensor.amber_signal_strength"]
    house.check(set(wanted) <= set(ha.entities()), "a beacon has its entities, with these names", ha.entities("Amber"))
    house.comes(lambda: ha.state("binary_sensor.amber") == "on", "a beacon is present")
    house.comes(
        lambda: ha.state("sensor.amber_proximity") in ("immediate", "near", "far"), "it has a proximity",
        lambda: ha.state("sensor.amber_proximity"))
    house.comes(
        lambda: all(ha.state(entity) in ("on", "off") for entity in ha.entities(domain="binary_sensor.")),
        "nothing in the museum is unknown", lambda: states(ha, "binary_sensor."), limit=45)
    house.settle()
    house.check(not ha.troubles(), "Home Assistant logs no warning about a payload", ha.troubles()[:3])


@case("devices", quick=True)
def check_devices(house):
    """A device's page: manufacturer, version, address, gateway and area, and the origin of the announcement."""
    ha = house.home_assistant
    house.gateway(configuration(
        [FRONT_ROOM], [LAMP],
        more=f"places: [{{ name: hall, receivers: [air] }}]\n{CONSOLE}"
        "launch: { rules: [{ name: siren, events: [enter], program: [/nowhere/siren] }] }\n"))
    house.beacon(11, 4).comes()
    house.comes(
        lambda: ha.state("binary_sensor.lamp") == "on" and ha.state("binary_sensor.front_room") == "on",
        "beacon and region are present", lambda: states(ha))
    devices = ha.devices()
    own = {name: devices.get(name, {}) for name in ("Lamp", "front room")}
    for key in ("manufacturer", "model", "sw_version"):
        values = {name: device.get(key) for name, device in own.items()}
        house.check(
            all(value and "unknown" not in value for value in values.values()), f"each device has {key}", values)
    house.check(
        all((device.get("configuration_url") or "").startswith("http") for device in devices.values()),
        "each device has the console's address", {name: d.get("configuration_url") for name, d in devices.items()})
    house.check(
        not any(device.get("serial_number") for device in own.values()), "an identity is not a serial number",
        own["Lamp"].get("serial_number"))

    gateways = {device.get("via_device_id") for device in own.values()}
    gateway = next((device for device in devices.values() if device["id"] in gateways), None)
    house.check(len(gateways) == 1 and gateway, "beacon and region are connected through a gateway's device", gateways)
    registered = [
        entity for entity in ha.call("config/entity_registry/list") if gateway and entity["device_id"] == gateway["id"]]
    diagnostics = [entity["entity_id"] for entity in registered if entity["entity_category"] == "diagnostic"]
    house.check(len(diagnostics) >= 3, "the gateway has diagnostics", diagnostics)
    house.comes(
        lambda: not diagnostics or all(ha.state(entity) not in (None, "unavailable", "unknown") for entity in diagnostics),
        "they have values", lambda: {entity: ha.state(entity) for entity in diagnostics}, limit=30)
    problem = next((entity for entity in diagnostics if entity.endswith("_problem")), "")
    house.comes(
        lambda: ha.state(problem) == "on" and "the rule siren fails" in (ha.attribute(problem, "problems") or [""])[0],
        "a rule whose program is missing is a problem, with its name", lambda: ha.attribute(problem, "problems"))

    areas = {area["area_id"]: area["name"] for area in ha.call("config/area_registry/list")}
    house.check(
        areas.get(own["Lamp"].get("area_id")) == "hall", "a beacon with a fixed place is in that area", areas)
    for entity in ("sensor.lamp_proximity", "sensor.lamp_place"):
        house.check((ha.attribute(entity, "icon") or "").startswith("mdi:"), f"{entity} has an icon")
    announced = [json.loads(text) for text in house.broker.retained("homeassistant/device/+/config").values()]
    house.check(
        # There is no support_url, since the project has no public address yet.
        announced and all({"name", "sw_version"} <= set(config["origin"]) for config in announced),
        "the origin has a version", [config["origin"] for config in announced])
    house.check(not ha.troubles(), "Home Assistant logs no warning about a payload", ha.troubles()[:3])


@case("removal")
def check_removal(house):
    """Another configuration, and `home-assistant: false`, remove all earlier devices."""
    ha = house.home_assistant
    gateway = house.gateway(configuration([FRONT_ROOM], [keys()]))
    house.comes(lambda: {"front room", "Ann's keys"} <= set(ha.devices()), "region and beacon are devices")
    gateway.reload(configuration([CELLAR], [BAG]))
    house.comes(
        lambda: {"cellar", "Bag"} <= set(ha.devices()) and not {"front room", "Ann's keys"} & set(ha.devices()),
        "another configuration replaces them", lambda: list(ha.devices()))
    gateway.reload(configuration([CELLAR], [BAG], home_assistant="false"))
    house.comes(lambda: not ha.devices(), "home-assistant: false removes all devices", lambda: list(ha.devices()))
    left = house.broker.retained("homeassistant/#")
    house.check(not left, "the broker retains no announcement", list(left))


def states(ha, domain=""):
    return {entity: ha.state(entity) for entity in ha.entities(domain=domain)}

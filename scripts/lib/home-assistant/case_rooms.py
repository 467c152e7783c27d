"""Three receivers in three rooms: none speaks for another, and rooms and receivers are devices."""

import json
import pathlib
import re
from urllib.parse import quote

from house import ANNS_HOUSE, beacon, case, configuration
from programs import BROKER_PORT, FOLDER, PASSWORD, PROGRAMS, Program, environment

def address(user):
    """Returns the broker's address for a user."""
    return f"mqtt://{user}:{quote(PASSWORD, safe='')}@127.0.0.1:{BROKER_PORT}"


BROKER = address("beacond")
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/dead-receiver.md"
# Meters between neighboring receivers.
DISTANCE = 10
ROOMS = {"Kitchen": "kitchen", "Study": "study", "Attic": "attic"}


class Relay:
    """A receiver of the simulated air (`beacon relay`)."""

    def __init__(self, name, position, user="beacond"):
        self.name, self.position, self.broker = name, position, address(user)
        self.start()

    def start(self):
        self.program = Program(
            f"relay-{self.name}", PROGRAMS / "beacon", "relay", self.broker, "--name", self.name, "--source",
            f"air@{self.position},0", environment=environment("air"))

    def kill(self):
        self.program.end(9)


class Rooms:
    """A gateway with three receivers, and Ann's keys beside the first one."""

    def __init__(self, house, relays=None, destination=""):
        self.house, self.ha, self.destination = house, house.home_assistant, destination
        self.relays = relays or [Relay(name, DISTANCE * index) for index, name in enumerate(ROOMS.values())]
        self.gateway = house.gateway(self.file())
        self.keys = house.keys()
        self.keys.comes()

    def file(self, kitchen="Kitchen"):
        places = "".join(
            f"  - {{ name: {kitchen if name == 'Kitchen' else name}, receivers: [{receiver}] }}\n"
            for name, receiver in ROOMS.items())
        return configuration(
            [ANNS_HOUSE], [beacon("Ann's keys", 11, 2, ", tracker: true")], self.destination, source=f'"{BROKER}"',
            more=f"places:\n{places}place-rules: {{ exit-timeout: 10s }}\n")

    def comes(self, wanted, sentence, limit=None):
        """Checks the states of entities."""
        def seen():
            return {entity: self.ha.state(entity) for entity in wanted}
        return self.house.comes(lambda: seen() == wanted, sentence, seen, limit)

    def end(self):
        for relay in self.relays:
            relay.kill()


HOME = {
    "sensor.ann_s_keys_proximity": "immediate", "sensor.ann_s_keys_place": "Kitchen",
    "sensor.ann_s_keys_nearest_receiver": "kitchen", "binary_sensor.kitchen_occupied": "on", "sensor.kitchen_count": "1",
    "binary_sensor.study_occupied": "off", "sensor.study_count": "0", "binary_sensor.attic_occupied": "off",
}


@case("rooms")
def check_rooms(house):
    """Rooms and receivers are devices. A rename is silent. A receiver that dies causes no automation."""
    rooms = Rooms(house)
    try:
        follow(rooms)
    finally:
        rooms.end()


def follow(rooms):
    house, ha = rooms.house, rooms.ha
    rooms.comes(HOME, "the beacon and the rooms have their states", 60)
    areas = {area["area_id"]: area["name"] for area in ha.call("config/area_registry/list")}
    devices = ha.devices()
    for name in (*ROOMS, *ROOMS.values()):
        house.check(name in devices, f"{name} is a device", list(devices))
    house.check(
        areas.get(devices["kitchen"]["area_id"]) == "Kitchen" == areas.get(devices["Kitchen"]["area_id"]),
        "a place and its receiver are in the place's area", areas)
    house.check(ha.attribute("binary_sensor.kitchen_occupied", "beacons") == ["Ann's keys"], "a place names its beacons")
    house.check(ha.state("binary_sensor.study_receiver_hears") == "on", "a receiver hears", ha.entities("study"))
    house.check(ha.state("sensor.study_receiver_adverts") is None, "a receiver's adverts are disabled")

    names = ["sensor.ann_s_keys_proximity", "sensor.ann_s_keys_place", "binary_sensor.kitchen_occupied"]
    ha.automate({
        "near": {
            "trigger": "state", "entity_id": "sensor.ann_s_keys_proximity", "from": "far", "to": ["near", "immediate"]},
        "far": {"trigger": "state", "entity_id": "sensor.ann_s_keys_proximity", "to": "far"},
        "room": {
            "trigger": "state", "entity_id": "sensor.ann_s_keys_place", "not_from": ["unknown", "unavailable"],
            "not_to": ["unknown", "unavailable"]},
        "empty": {"trigger": "state", "entity_id": "binary_sensor.kitchen_occupied", "to": "off"}})
    for relay in rooms.relays:
        mark = ha.mark()
        relay.kill()
        rooms.comes({f"binary_sensor.{relay.name}_receiver_hears": "off"}, f"{relay.name} is dead", 40)
        house.settle(quiet=8)
        relay.start()
        rooms.comes(HOME, f"after a restart of {relay.name}, all states are as before", 60)
        house.settle(quiet=3)
        house.check(not house.fired(mark), f"no automation runs while {relay.name} restarts", house.fired(mark))
        wrong = [change for change in ha.since(mark, *names) if change.new not in ("unknown", HOME[change.entity])]
        house.check(not wrong, f"no state is wrong while {relay.name} restarts", wrong)

    mark, log = ha.mark(), len(ha.log())
    rooms.gateway.reload(rooms.file(kitchen="Galley"))
    rooms.comes({"sensor.ann_s_keys_place": "Galley", "binary_sensor.kitchen_occupied": "on"}, "the new name is shown", 5)
    house.comes(lambda: "Galley" in ha.devices() and "Kitchen" not in ha.devices(), "the device has the new name")
    house.settle()
    changes = ha.since(mark, "binary_sensor.kitchen_occupied", "sensor.kitchen_count")
    house.check(not changes, "a rename does not change the room's state", changes)
    house.check(not house.fired(mark), "a rename runs no automation", house.fired(mark))
    new = [line for line in ha.log()[log:].splitlines() if " ERROR " in line or " WARNING " in line]
    house.check(not new, "Home Assistant logs nothing about it", new[:3])
    retained = house.broker.retained("beacond/+/place/#")
    house.check(not any("Kitchen" in topic for topic in retained), "the old topic is empty", list(retained))

    rooms.keys.leaves()
    rooms.comes(
        {"binary_sensor.kitchen_occupied": "off", "sensor.kitchen_count": "0", "sensor.ann_s_keys_place": "away"},
        "the room is empty after the beacon has left", 60)
    rooms.relays[0].kill()
    rooms.comes(
        {"binary_sensor.kitchen_occupied": "unknown", "sensor.kitchen_count": "unknown", "binary_sensor.kitchen_hears": "off"},
        "a dark room is unknown, and not empty", 40)

    # The automation of docs/dead-receiver.md, with a shorter wait.
    block = re.search(r"^```yaml\n(alias: (.*?)\n.*?)^```", PAGE.read_text(), re.S | re.M)
    ha.automate({})
    ha.document("dead", block[1].replace("minutes: 5", "seconds: 2"))
    ha.load()
    mark = ha.mark()
    rooms.relays[1].kill()
    house.comes(lambda: house.fired(mark) == [block[2]], "the automation for a dead receiver runs", lambda: house.fired(mark), 40)

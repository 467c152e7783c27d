"""Reloads (SIGHUP): unchanged devices stay available, and a rename is not a movement."""

from case_movements import event_trigger
from house import ANNS_HOUSE, CELLAR, beacon, case, configuration, region
from programs import comes

ENTITIES = ["binary_sensor.front_room", "binary_sensor.ann_s_keys"]


class Reload:
    """A gateway with a present beacon, and automations of all kinds."""

    def __init__(self, house):
        self.house, self.ha = house, house.home_assistant
        self.gateway = house.gateway(self.file())
        house.keys().comes()
        house.comes(
            lambda: all(self.ha.state(entity) == "on" for entity in ENTITIES)
            and self.ha.state("sensor.ann_s_keys_proximity") in ("immediate", "near"), "a beacon is present",
            lambda: [self.ha.state(entity) for entity in ENTITIES])
        made = {
            "occupied": {"trigger": "state", "entity_id": ENTITIES[0], "to": "on"},
            "present": {"trigger": "state", "entity_id": ENTITIES[1], "to": "on"},
            "near": {"trigger": "state", "entity_id": "sensor.ann_s_keys_proximity", "to": ["near", "immediate"]},
            "message": {"trigger": "mqtt", "topic": "beacond/+/event/#"}}
        for entity in self.ha.entities(domain="event."):
            made[entity] = event_trigger(entity, "enter")
        self.ha.automate(made)
        house.settle()
        self.devices, self.mark = self.ha.devices(), self.ha.mark()

    @staticmethod
    def file(room="front room", name="Ann's keys", more_regions=(), more=""):
        return configuration([region(room, 11), ANNS_HOUSE, *more_regions], [beacon(name, 11, 2)], more=more)

    def reload(self, file=None, device=None, is_change=True):
        """Reloads, and waits until the log reports it and a new device exists."""
        said = len(self.gateway.program.log())
        self.gateway.reload(file)
        comes(lambda: "configuration" in self.gateway.program.log()[said:], 10)
        if device:
            self.house.comes(lambda: device in self.ha.devices(), f"{device} is a device", lambda: list(self.ha.devices()))
        self.house.settle(quiet=4)

    def verdicts(self):
        """Checks that no entity was unavailable, and that no automation has run."""
        changes = self.ha.since(self.mark, *ENTITIES, "sensor.ann_s_keys_proximity")
        lost = [change for change in changes if change.new in ("unavailable", None)]
        self.house.check(not lost, "nothing becomes unavailable", lost)
        other = [change for change in changes if change not in lost and change.old != "unavailable"]
        self.house.check(not other, "no state changes", other)
        fired = self.house.fired(self.mark)
        self.house.check(not fired, "no automation runs", fired)


@case("reload", quick=True)
def check_reload(house):
    """A reload of the same file."""
    round = Reload(house)
    round.reload()
    round.verdicts()


@case("unrelated change")
def check_unrelated(house):
    """A region is added, and the log level changes."""
    round = Reload(house)
    round.reload(round.file(more_regions=[CELLAR], more="log: { level: debug }\n"), "cellar")
    round.verdicts()


@case("renamed region", quick=True)
def check_renamed_region(house):
    """A region is renamed: it keeps its device and entity, there is no enter, and its device automation still works."""
    ha, round = house.home_assistant, Reload(house)
    old = round.devices["front room"]
    registry = ha.call("config/entity_registry/list")
    entity = next(entry for entry in registry if entry["entity_id"] == "binary_sensor.front_room")
    round.reload(round.file(room="salon"), "salon")
    round.verdicts()
    house.check(ha.devices().get("salon", {}).get("id") == old["id"], "it is the same device in Home Assistant")
    house.check("front room" not in ha.devices(), "no device has the old name", list(ha.devices()))
    ha.automate({"by device": {
        "trigger": "device", "device_id": old["id"], "domain": "binary_sensor", "entity_id": entity["id"],
        "type": "occupied"}})
    carried, mark = house.beacons[0], ha.mark()
    carried.leaves()
    round.gateway.program.says("salon was left", 30)
    carried.comes()
    house.comes(
        lambda: "by device" in house.fired(mark), "a device automation still works after the rename", limit=20)


@case("renamed beacon")
def check_renamed_beacon(house):
    """A beacon is renamed: it keeps its device, and nothing happens."""
    ha, round = house.home_assistant, Reload(house)
    old = round.devices["Ann's keys"]
    round.reload(round.file(name="Anna's keys"), "Anna's keys")
    round.verdicts()
    house.check(ha.devices().get("Anna's keys", {}).get("id") == old["id"], "it is the same device in Home Assistant")
    house.check(ha.state("binary_sensor.ann_s_keys") == "on", "its entity keeps its id and its state")

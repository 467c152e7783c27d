"""Interruptions during which beacons leave, stay and come: automations run only for real movements."""

import signal

from case_movements import event_trigger
from house import beacon, case, configuration, region
from programs import until

# A beacon for each change during an interruption: name, minor value, presence before and after.
LEFT, STAYED, CAME = ("left", 1, True, False), ("stayed", 2, True, True), ("came", 3, False, True)
THINGS = [LEFT, STAYED, CAME]

CONFIGURATION = configuration(
    [region(f"{name} room", 15, minor) for name, minor, _, _ in THINGS],
    [beacon(f"{name} keys", 15, minor, ", tracker: true") for name, minor, _, _ in THINGS],
    more="places: [{ name: hall, receivers: [air] }]\nplace-rules: { exit-timeout: 5s }\n")

# Automations that may run only for a movement, by direction.
ENTERING = ["enters", "detected", "present", "tracked home", "enter message", "enter event", "moves here"]
LEAVING = ["exits", "cleared", "absent", "tracked away", "exit message", "exit event", "moves away"]


def automations(house, name):
    """Returns automations of all kinds for a beacon."""
    ha = house.home_assistant
    room, keys = f"binary_sensor.{name}_room", f"binary_sensor.{name}_keys"
    proximity, place = f"sensor.{name}_keys_proximity", f"sensor.{name}_keys_place"
    made = {
        "enters": {"trigger": "state", "entity_id": room, "from": "off", "to": "on"},
        "exits": {"trigger": "state", "entity_id": room, "from": "on", "to": "off"},
        "detected": {"trigger": "occupancy.detected", "target": {"entity_id": [room]}},
        "cleared": {"trigger": "occupancy.cleared", "target": {"entity_id": [room]}},
        "present": {"trigger": "state", "entity_id": keys, "from": "off", "to": "on"},
        "absent": {"trigger": "state", "entity_id": keys, "from": "on", "to": "off"},
        "approaches": {"trigger": "state", "entity_id": proximity, "from": "far", "to": ["near", "immediate"]},
        # The form that most users write. It may run when beacond receives a present beacon again, but not for an absent
        # one.
        "near": {"trigger": "state", "entity_id": proximity, "to": ["near", "immediate"]},
        "moves here": {"trigger": "state", "entity_id": place, "from": "away", "to": "hall"},
        "moves away": {"trigger": "state", "entity_id": place, "from": "hall", "to": "away"},
        "enter message": {"trigger": "mqtt", "topic": f"beacond/+/event/{name}%20room/enter"},
        "exit message": {"trigger": "mqtt", "topic": f"beacond/+/event/{name}%20room/exit"},
    }
    for entity in ha.entities(f"{name} room", "event."):
        made["enter event"], made["exit event"] = event_trigger(entity, "enter"), event_trigger(entity, "exit")
    for entity in ha.entities(f"{name} keys", "device_tracker."):
        made["tracked home"] = {"trigger": "state", "entity_id": entity, "from": "not_home", "to": "home"}
        made["tracked away"] = {"trigger": "state", "entity_id": entity, "from": "home", "to": "not_home"}
    return {f"{name} {kind}": trigger for kind, trigger in made.items()}


def shown(house, name):
    """Returns the entities of a beacon that have a wrong state at the end."""
    ha, is_there = house.home_assistant, next(after for other, _, _, after in THINGS if other == name)
    return differences(ha, name, is_there)


def differences(ha, name, is_there):
    wanted = {
        f"binary_sensor.{name}_room": ["on"] if is_there else ["off"],
        f"binary_sensor.{name}_keys": ["on"] if is_there else ["off"],
        f"sensor.{name}_keys_proximity": ["immediate", "near"] if is_there else ["unknown"],
        f"sensor.{name}_keys_place": ["hall"] if is_there else ["away"],
    }
    for entity in ha.entities(f"{name} keys", "device_tracker."):
        wanted[entity] = ["home"] if is_there else ["not_home"]
    found = {entity: ha.state(entity) for entity in wanted}
    distance = ha.state(f"sensor.{name}_keys_distance")
    if (distance not in (None, "unknown", "unavailable")) != is_there:
        found[f"sensor.{name}_keys_distance"] = distance
        wanted[f"sensor.{name}_keys_distance"] = []
    return {entity: state for entity, state in found.items() if state not in wanted[entity]}


class Interruption:
    """A gateway with three beacons, before, during and after an interruption."""

    def __init__(self, house):
        self.house, self.ha = house, house.home_assistant
        self.gateway = house.gateway(CONFIGURATION)
        self.keys = {name: house.beacon(15, minor) for name, minor, _, _ in THINGS}
        # All three were there once. The one that will come has left again.
        for beacon in self.keys.values():
            beacon.comes()
        self.wait({name: True for name, *_ in THINGS})
        self.keys["came"].leaves()
        self.wait({name: before for name, _, before, _ in THINGS})
        made = {}
        for name, *_ in THINGS:
            made |= automations(house, name)
        self.ha.automate(made)
        house.settle()
        self.mark = self.ha.mark()

    def wait(self, there):
        until(
            lambda: not any(differences(self.ha, name, is_there) for name, is_there in there.items()),
            f"wrong states before the interruption: {[differences(self.ha, name, is_there) for name, is_there in there.items()]}")

    def move(self):
        """Moves the beacons during the interruption."""
        self.keys["left"].leaves()
        self.keys["came"].comes()

    def wait_for_unavailable(self):
        until(
            lambda: self.ha.state("binary_sensor.stayed_room") == "unavailable", "Home Assistant does not notice the interruption", 90)

    def verdicts(self, delivers=True):
        """Checks the final states, and which automations have run.

        `delivers` is true if Home Assistant gets all messages. A broker keeps none for a disconnected client.
        """
        house = self.house
        for name, *_ in THINGS:
            house.comes(
                lambda: not shown(house, name), f"a beacon that {name} has the right states at the end",
                lambda: shown(house, name), limit=45)
        house.settle()
        fired = house.fired(self.mark)
        near = [change.new for change in self.ha.since(self.mark, "sensor.left_keys_proximity")]
        house.check(
            not {"immediate", "near"} & set(near) and "left near" not in fired,
            "a beacon that left is not near at any time", near)
        for name, allowed in (("left", LEAVING), ("stayed", []), ("came", [*ENTERING, "approaches"])):
            wrong = [
                kind for kind in (entry.removeprefix(name + " ") for entry in fired if entry.startswith(name + " "))
                if kind not in allowed and not (kind == "near" and name != "left")]
            house.check(not wrong, f"no automation runs without a movement, for a beacon that {name}", wrong)
        messages = {name: fired.count(name) for name in ("left exit message", "came enter message")}
        house.check(
            all(count == 1 or count == 0 and not delivers for count in messages.values()),
            "each movement is one message", messages)
        events = {name: fired.count(name) for name in ("left exit event", "came enter event")}
        house.check(all(count <= 1 for count in events.values()), "each movement is at most one event", events)


@case("clean stop", quick=True)
def check_clean_stop(house):
    """beacond is stopped and started, as in an update."""
    round = Interruption(house)
    round.gateway.end()
    round.wait_for_unavailable()
    round.move()
    round.gateway.start()
    round.verdicts()


@case("kill -9", quick=True)
def check_kill(house):
    """beacond is killed and started, as after a power failure."""
    round = Interruption(house)
    round.gateway.kill()
    round.wait_for_unavailable()
    round.move()
    round.gateway.start()
    round.verdicts()


@case("broker lost")
def check_broker(house):
    """The broker ends and starts while beacond runs. Home Assistant may reconnect after the events."""
    round = Interruption(house)
    house.broker.end()
    round.wait_for_unavailable()
    round.move()
    round.gateway.program.says("left room was left")
    house.broker.start()
    round.verdicts(delivers=False)


@case("Home Assistant lost")
def check_home_assistant(house):
    """Home Assistant restarts while beacond runs. It misses the events until it has started."""
    round = Interruption(house)
    house.home_assistant.end()
    round.move()
    round.gateway.program.says("left room was left")
    house.home_assistant.start()
    round.verdicts(delivers=False)


@case("suspended")
def check_suspension(house):
    """Signals stop and continue beacond (SIGSTOP, SIGCONT), as if the machine slept.

    As during sleep, time passes, the broker closes the connection, and beacond misses all adverts. Unlike sleep, this
    resets no radio.
    """
    round = Interruption(house)
    round.gateway.program.send(signal.SIGSTOP)
    round.move()
    round.wait_for_unavailable()
    round.gateway.program.send(signal.SIGCONT)
    round.verdicts()

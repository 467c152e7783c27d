"""The blueprints of HomeAssistant/blueprints: each runs for its movement, and none runs for a restart."""

import json
import pathlib
import re
import shutil

from case_persons import LEAVING
from case_rooms import BROKER, DISTANCE, ROOMS, Relay
from home_assistant import CONFIG
from house import ANNS_HOUSE, beacon, case, configuration

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "HomeAssistant/blueprints"
# The place of the blueprints in Home Assistant's folder, after an import.
IMPORTED = "swift-beacon"
# A beacon at this position is far from the kitchen, and farther from the other rooms.
FAR = -8
# How long a test waits in place of a blueprint's default.
SECONDS = 3
RAN = re.compile(r"\[check\.blueprint\] (.+)")

KEYS, BENS_KEYS, BAG = ("Ann's keys", 11, 2), ("Ben's keys", 11, 5), ("Bag", 11, 3)
PERSONS = ["person.ann", "person.ben"]
PLACE = "sensor.ann_s_keys_place"
# The automations of a user: blueprint, inputs, and the text that its actions write.
AUTOMATIONS = {
    "comes home": ("comes-home", {"persons": PERSONS}, "{{ person }}"),
    "never home": (
        "comes-home", {"persons": PERSONS, "only_if": [{"condition": "template", "value_template": "{{ false }}"}]}, ""),
    "leaves last": ("leaves-last", {"persons": PERSONS}, "{{ person }}"),
    "changes room": ("changes-room", {"place": PLACE}, "{{ beacon }}: {{ from_room }} to {{ to_room }}"),
    "into the study": ("changes-room", {"place": PLACE, "rooms": ["Study"], "stay": SECONDS}, "{{ to_room }}"),
    "left behind": (
        "left-behind", {
            "persons": ["person.ann"], "presence": "binary_sensor.bag", "place": "sensor.bag_place",
            "wait": {"seconds": SECONDS}}, "{{ person }}: {{ beacon }} in {{ room }}"),
    "near": (
        "near-for", {
            "proximity": "sensor.ann_s_keys_proximity", "presence": "binary_sensor.ann_s_keys", "stay": SECONDS},
        "{{ beacon }}"),
}


class Blueprints:
    """A gateway with three rooms, two persons, a bag, and an automation of each blueprint."""

    def __init__(self, house):
        self.house, self.ha = house, house.home_assistant
        self.relays = [Relay(name, DISTANCE * index) for index, name in enumerate(ROOMS.values())]
        places = "".join(f"  - {{ name: {name}, receivers: [{receiver}] }}\n" for name, receiver in ROOMS.items())
        self.gateway = house.gateway(configuration(
            [ANNS_HOUSE], [beacon(*KEYS, ", tracker: true"), beacon(*BENS_KEYS, ", tracker: true"), beacon(*BAG)],
            source=f'"{BROKER}"', more=f"places:\n{places}place-rules: {{ exit-timeout: 10s }}\n"))
        self.ann, self.ben, self.bag = (house.beacon(*identity[1:]) for identity in (KEYS, BENS_KEYS, BAG))
        self.bag.comes()
        self.becomes({"binary_sensor.bag": "on", "sensor.bag_place": "Kitchen", PLACE: "away"}, "the bag is in the kitchen", 60)
        for name, device in (("Ann", KEYS[0]), ("Ben", BENS_KEYS[0])):
            self.make_person(name, self.ha.entities(device, "device_tracker."))
        self.becomes({"person.ann": "not_home", "person.ben": "not_home"}, "nobody is home")

    def make_person(self, name, trackers):
        self.remove_persons(name)
        self.ha.call("person/create", name=name, user_id=None, device_trackers=trackers)

    def remove_persons(self, *names):
        for person in self.ha.call("person/list")["storage"]:
            if person["name"] in names:
                self.ha.call("person/delete", person_id=person["id"])

    def install(self):
        """Copies the blueprints to the folder into which Home Assistant imports them, and makes the automations."""
        house, ha = self.house, self.ha
        shutil.copytree(FOLDER, CONFIG / "blueprints/automation" / IMPORTED)
        found = ha.call("blueprint/list", domain="automation")
        files = sorted(path.name for path in FOLDER.iterdir())
        house.check(len(files) == 5, "there are five blueprints", files)
        for file in files:
            loaded = found.get(f"{IMPORTED}/{file}", {"error": "not found"})
            house.check("metadata" in loaded and not loaded.get("error"), f"Home Assistant accepts {file}", loaded.get("error"))
        platforms = {entity["entity_id"]: entity["platform"] for entity in ha.call("config/entity_registry/list")}
        for name, (blueprint, inputs, text) in AUTOMATIONS.items():
            described = found[f"{IMPORTED}/{blueprint}.yaml"]["metadata"]["input"]
            for key, value in inputs.items():
                for wanted in (described[key]["selector"].get("entity") or {}).get("filter", []):
                    for entity in value if isinstance(value, list) else [value]:
                        house.check(
                            offers(wanted, entity, platforms.get(entity), ha.attribute(entity, "device_class")),
                            f"{blueprint}: the list of {key} offers {entity}", wanted)
            action = {"action": "system_log.write", "data": {
                "level": "warning", "logger": "check.blueprint", "message": f"{name}: {text}"}}
            ha.document(blueprint + name.replace(" ", "_"), json.dumps({
                "id": name.replace(" ", "_"), "alias": name,
                "use_blueprint": {"path": f"{IMPORTED}/{blueprint}.yaml", "input": {**inputs, "then_do": [action]}}}))
        ha.load()

        def states():
            return {name: ha.state("automation." + name.replace(" ", "_")) for name in AUTOMATIONS}
        house.comes(lambda: set(states().values()) == {"on"}, "Home Assistant accepts an automation of each", states)

    def becomes(self, wanted, sentence, limit=None):
        """Checks the states of entities."""
        def seen():
            return {entity: self.ha.state(entity) for entity in wanted}
        return self.house.comes(lambda: seen() == wanted, sentence, seen, limit)

    # MARK: what ran

    def mark(self):
        """Returns the current position, after all earlier messages have arrived."""
        self.house.settle(SECONDS + 2)
        return len(RAN.findall(self.ha.log()))

    def runs(self, mark, wanted, sentence, limit=30):
        """Checks that exactly these texts were written since a mark, each once."""
        self.house.comes(
            lambda: set(wanted) <= set(RAN.findall(self.ha.log())[mark:]), sentence,
            lambda: RAN.findall(self.ha.log())[mark:], limit)
        self.mark()
        found = RAN.findall(self.ha.log())[mark:]
        self.house.check(sorted(found) == sorted(wanted), f"{sentence}, once, and no other", found)

    def end(self):
        for relay in self.relays:
            relay.kill()
        self.remove_persons("Ann", "Ben")
        shutil.rmtree(CONFIG / "blueprints/automation" / IMPORTED, ignore_errors=True)


def offers(wanted, entity, platform, device_class):
    """Returns true if the filter of a selector includes an entity."""
    return (
        wanted.get("integration", platform) == platform
        and entity.split(".")[0] in wanted.get("domain", [entity.split(".")[0]])
        and device_class in wanted.get("device_class", [device_class]))


HOME = {
    "person.ann": "home", "person.ben": "home", "binary_sensor.bag": "on", "sensor.bag_place": "Kitchen", PLACE: "Kitchen",
    "sensor.ann_s_keys_proximity": "immediate"}


@case("blueprints")
def check_blueprints(house):
    """Each blueprint runs once per movement, and none for a restart of the gateway, the broker, Home Assistant or a receiver."""
    prints = Blueprints(house)
    try:
        prints.install()
        move(prints)
        restart(prints)
        leave(prints)
    finally:
        prints.end()


def move(prints):
    """Checks arrivals and movements in the house."""
    house, mark = prints.house, prints.mark()
    prints.ann.comes(distance=FAR)
    prints.runs(mark, ["comes home: Ann", "changes room: Ann's keys: away to Kitchen"], "Ann's arrival runs its automations")
    prints.becomes({"sensor.ann_s_keys_proximity": "far"}, "her keys are far from the receiver")
    # The blueprint asks for ten seconds.
    house.settle(10)
    mark = prints.mark()
    prints.ann.comes(distance=0.2)
    prints.runs(mark, ["near: Ann's keys"], "coming near runs its automation")
    mark = prints.mark()
    prints.ben.comes(distance=0.3)
    prints.runs(mark, ["comes home: Ben"], "Ben's arrival runs its automation")
    mark = prints.mark()
    prints.ann.comes(distance=DISTANCE)
    prints.runs(
        mark, ["changes room: Ann's keys: Kitchen to Study", "into the study: Study"], "another room runs its automations")
    mark = prints.mark()
    prints.ann.comes(distance=0.2)
    prints.runs(mark, ["changes room: Ann's keys: Study to Kitchen"], "the way back runs the automation for all rooms")


def restart(prints):
    """Checks that no automation runs for a restart."""
    house, ha = prints.house, prints.ha
    prints.becomes(HOME, "all are at home", 30)
    kitchen = prints.relays[0]

    def bring_back(end, start, gone, limit=90):
        def interrupt():
            end()
            prints.becomes(gone, "Home Assistant notices it", limit) if gone else house.settle(5)
            start()
        return interrupt
    interruptions = {
        "the gateway is restarted": bring_back(prints.gateway.end, prints.gateway.start, None),
        "the gateway is killed": bring_back(prints.gateway.kill, prints.gateway.start, None),
        "the gateway is gone for more than a minute": bring_back(
            prints.gateway.kill, prints.gateway.start, {"person.ann": "unknown", PLACE: "unavailable"}),
        "the broker is restarted": bring_back(house.broker.end, house.broker.start, {PLACE: "unavailable"}),
        "Home Assistant is restarted": lambda: (ha.end(), ha.start()),
        "a receiver of three is killed": bring_back(kitchen.kill, kitchen.start, {"binary_sensor.kitchen_hears": "off"}),
    }
    for name, interrupt in interruptions.items():
        mark = prints.mark()
        interrupt()
        prints.becomes(HOME, f"{name}: all states are as before", 90)
        prints.mark()
        found = RAN.findall(ha.log())[mark:]
        house.check(not found, f"{name}: no blueprint runs", found)


def leave(prints):
    """Checks departures: of one person, of the last one, and of the last one while the gateway is down."""
    gateway, last = prints.gateway, ["leaves last: Ann", "left behind: Ann: Bag in Kitchen"]
    mark = prints.mark()
    prints.ben.leaves()
    prints.becomes({"person.ben": "not_home"}, "Ben leaves", LEAVING)
    prints.runs(mark, [], "the departure of the first person runs nothing")
    mark = prints.mark()
    prints.ann.leaves()
    prints.runs(mark, [*last, "changes room: Ann's keys: Kitchen to away"], "the last departure runs its automations", LEAVING)
    mark = prints.mark()
    prints.ann.comes()
    prints.runs(
        mark, ["comes home: Ann", "changes room: Ann's keys: away to Kitchen"], "Ann comes again", LEAVING)
    mark = prints.mark()
    gateway.kill()
    prints.ann.leaves()
    gateway.start()
    prints.becomes({"person.ann": "not_home"}, "Ann has left without the gateway", LEAVING)
    found = []
    prints.house.comes(
        lambda: set(last) <= set(found := RAN.findall(prints.ha.log())[mark:]),
        "leaves last and left behind run for her departure without the gateway", lambda: found, 30)
    prints.mark()
    found = [text for text in RAN.findall(prints.ha.log())[mark:] if not text.startswith("changes room: ")]
    prints.house.check(sorted(found) == sorted(last), "each runs once, and no other", found)

    mark = prints.mark()
    prints.ann.comes()
    prints.bag.comes(distance=0.3)
    prints.runs(
        mark, ["comes home: Ann", "changes room: Ann's keys: away to Kitchen"], "Ann comes for the bag", LEAVING)
    mark = prints.mark()
    prints.bag.leaves()
    # Longer than a test waits, and shorter than a blueprint does by default.
    prints.becomes({"binary_sensor.bag": "off"}, "the bag leaves with her", LEAVING)
    prints.ann.leaves()
    prints.runs(
        mark, ["leaves last: Ann", "changes room: Ann's keys: Kitchen to away"], "a bag that she takes along is not left behind",
        LEAVING)

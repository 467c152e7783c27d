"""A beacon as a person's tracker: the person, the zone home and its automations, over restarts."""

import json

from house import ANNS_HOUSE, beacon, case, configuration, keys
from programs import FOLDER, Phone

# The beacon is absent after its time-out, which starts again when the gateway starts.
LEAVING = 45

# The triggers of Home Assistant for the first arrival and for the last departure.
COMING = {
    "above 0": {"trigger": "numeric_state", "entity_id": "zone.home", "above": 0},
    "zone enter": {"trigger": "zone", "entity_id": "person.ann", "zone": "zone.home", "event": "enter"},
    "zone.entered": {
        "trigger": "zone.entered", "target": {"entity_id": ["person.ann"]}, "options": {"zone": "zone.home"}},
    "occupancy detected": {"trigger": "zone.occupancy_detected", "options": {"zone": "zone.home"}},
    "to home": {"trigger": "state", "entity_id": "person.ann", "to": "home"},
}
GOING = {
    "below 1": {"trigger": "numeric_state", "entity_id": "zone.home", "below": 1},
    "zone leave": {"trigger": "zone", "entity_id": "person.ann", "zone": "zone.home", "event": "leave"},
    "zone.left": {"trigger": "zone.left", "target": {"entity_id": ["person.ann"]}, "options": {"zone": "zone.home"}},
    "occupancy cleared": {"trigger": "zone.occupancy_cleared", "options": {"zone": "zone.home"}},
    "to not_home": {"trigger": "state", "entity_id": "person.ann", "to": "not_home"},
}
# They run for no outage at all, according to docs/mqtt.md.
SURVIVING = {"zone.entered", "zone.left"}


def make_person(house, *trackers):
    """Adds the person Ann with trackers, as a user does in Home Assistant's settings."""
    ha = house.home_assistant
    for person in ha.call("person/list")["storage"]:
        if person["name"] == "Ann":
            ha.call("person/delete", person_id=person["id"])
    ha.call("person/create", name="Ann", user_id=None, device_trackers=list(trackers))
    house.comes(lambda: ha.state("person.ann") is not None, "Ann is a person")


class Home:
    """Ann with the tracker of her keys, and automations of all kinds for her and for the zone home."""

    def __init__(self, house, beacons=None):
        self.house, self.ha = house, house.home_assistant
        self.gateway = house.gateway(configuration([ANNS_HOUSE], beacons or [keys(", tracker: true")]))
        self.tracker = self.find("Ann's keys")
        make_person(house, self.tracker)
        self.carried = house.keys()
        self.becomes("not_home", 0, "Ann, whose beacon has not sent yet, is not home")
        self.ha.automate({**COMING, **GOING})
        house.settle()

    def find(self, device):
        """Returns the tracker of a beacon."""
        found = self.house.comes(
            lambda: self.ha.entities(device, "device_tracker."), f"{device} has a tracker",
            lambda: self.ha.entities(device))
        return found[0]

    def becomes(self, state, persons, sentence, limit=None):
        """Checks the state of Ann and the number of persons in the zone home."""
        self.house.comes(
            lambda: self.seen() == (state, str(persons)), sentence, lambda: (self.seen(), self.ha.state(self.tracker)), limit)

    def seen(self):
        return self.ha.state("person.ann"), self.ha.state("zone.home")

    def runs(self, mark, wanted, sentence):
        """Checks that exactly these automations have run since a mark, each once."""
        self.house.comes(lambda: set(wanted) <= set(self.house.fired(mark)), sentence, lambda: self.house.fired(mark), 20)
        self.house.settle()
        fired = self.house.fired(mark)
        self.house.check(sorted(fired) == sorted(wanted), f"{sentence}, once", fired)

    def stays(self, mark, sentence):
        """Checks that neither Ann nor the zone has changed since a mark, and that no automation has run."""
        self.house.settle()
        changes = self.ha.since(mark, "person.ann", "zone.home", self.tracker)
        self.house.check(not changes, f"{sentence}, Ann and the zone stay as they are", changes)
        self.house.check(not self.house.fired(mark), f"{sentence}, no automation runs", self.house.fired(mark))


def restart(home, end):
    """Ends the gateway in a way, starts it again, and waits until its entities are available."""
    end()
    home.gateway.start()
    home.gateway.program.says("connected to")
    home.house.comes(
        lambda: home.ha.state("sensor.ann_s_keys_proximity") in ("immediate", "near"), "the gateway hears the beacon again",
        lambda: home.ha.state("sensor.ann_s_keys_proximity"))


@case("person", quick=True)
def check_person(house):
    """A person with a beacon comes and leaves. All automations for the zone run then, and none runs for a restart."""
    home = Home(house)
    ha, tracker = home.ha, home.tracker
    house.check(ha.attribute(tracker, "source_type") == "bluetooth_le", "the tracker's source is Bluetooth LE")
    for movement in ("first", "second"):
        mark = ha.mark()
        home.carried.comes()
        home.becomes("home", 1, f"Ann comes home for the {movement} time, and the zone counts her")
        home.runs(mark, COMING, f"all automations for coming home run for the {movement} time")
        in_zone = ha.call(
            "test_condition", condition={"condition": "zone", "entity_id": "person.ann", "zone": "zone.home"})["result"]
        house.check(in_zone, "the zone's condition is true")
        house.check(ha.attribute(tracker, "in_zones") == ["zone.home"], "the tracker is in the zone home")
        house.check(ha.attribute(tracker, "tracking_type") == "connection", "it tracks a connection")

        for how, end in (("restarted", home.gateway.end), ("killed", home.gateway.kill)):
            mark = ha.mark()
            restart(home, end)
            home.stays(mark, f"while the gateway is {how}")
        mark = ha.mark()
        home.carried.leaves()
        home.becomes("not_home", 0, f"Ann leaves for the {movement} time", LEAVING)
        home.runs(mark, GOING, f"all automations for leaving run for the {movement} time")

    mark = ha.mark()
    home.gateway.end()
    home.carried.comes()
    home.gateway.start()
    home.becomes("home", 1, "Ann, who came without the gateway, is home")
    home.runs(mark, COMING, "all automations run for her arrival without the gateway")
    mark = ha.mark()
    home.gateway.kill()
    home.carried.leaves()
    home.gateway.start()
    home.becomes("not_home", 0, "Ann, who left without the gateway, is not home", LEAVING)
    home.runs(mark, GOING, "all automations run for her departure without the gateway")
    house.check(not ha.troubles(), "Home Assistant logs no warning about a payload", ha.troubles()[:3])


@case("person without gateway")
def check_without_gateway(house):
    """A gateway that stays away for a minute makes the person unknown. The triggers zone.entered and zone.left run for
    no outage."""
    home = Home(house)
    ha = home.ha
    home.carried.comes()
    home.becomes("home", 1, "Ann comes home")
    house.settle()
    mark = ha.mark()
    for how, end in (("ended", home.gateway.end), ("killed", home.gateway.kill)):
        end()
        home.becomes("unknown", 0, f"Ann is unknown when the gateway was {how} a minute ago", 90)
        home.gateway.start()
        home.becomes("home", 1, "she is home when the gateway runs again")
    ha.end()
    ha.start()
    home.becomes("home", 1, "and after a restart of Home Assistant", 60)
    house.broker.end()
    home.becomes("unknown", 0, "Ann is unknown without the broker")
    house.broker.start()
    home.becomes("home", 1, "she is home when the broker runs again", 90)
    house.settle()
    wrong = [change for change in ha.since(mark, "person.ann") if change.new == "not_home"]
    house.check(not wrong, "Ann was never shown as away during this", wrong)
    wrong = SURVIVING & set(house.fired(mark))
    house.check(not wrong, "zone.entered and zone.left did not run", wrong)

    mark = ha.mark()
    home.gateway.kill()
    home.carried.leaves()
    home.becomes("unknown", 0, "Ann is unknown without the gateway", 90)
    home.gateway.start()
    home.becomes("not_home", 0, "Ann, who left without the gateway, is not home", LEAVING)
    house.settle()
    fired = [name for name in house.fired(mark) if name in SURVIVING]
    house.check(fired == ["zone.left"], "zone.left runs once for her departure", fired)


@case("phone and beacons")
def check_phone(house):
    """A person with a phone and two beacons is home while one of them is."""
    home = Home(house, [keys(", tracker: true"), beacon("Bag", 11, 3, ", tracker: true")])
    ha = home.ha
    place = {"latitude": 52.5, "longitude": 13.4, "gps_accuracy": 10}
    away = {"latitude": 48.1, "longitude": 11.6, "gps_accuracy": 10}
    house.broker.publish("homeassistant/device_tracker/ann_phone/config", json.dumps({
        "unique_id": "ann_phone", "name": "Ann phone", "source_type": "gps", "json_attributes_topic": "phone/place"}))
    phone = house.comes(
        lambda: [entity for entity in ha.entities(domain="device_tracker.") if entity.endswith("ann_phone")],
        "the phone has a tracker")[0]
    make_person(house, phone, home.tracker, home.find("Bag"))
    bag = house.beacon(11, 3)
    # Retained, since Home Assistant may subscribe only some time after the entity appears.
    house.broker.publish("phone/place", json.dumps(place), retain=True)
    home.becomes("home", 1, "a phone at home and absent beacons are home")
    house.broker.publish("phone/place", json.dumps(away), retain=True)
    home.becomes("not_home", 0, "a phone elsewhere and absent beacons are not home")
    home.carried.comes()
    home.becomes("home", 1, "one beacon at home is home, whatever the phone says")
    bag.comes()
    house.comes(lambda: ha.state("binary_sensor.bag") == "on", "the second beacon comes")
    mark = ha.mark()
    home.carried.leaves()
    house.comes(lambda: ha.state("binary_sensor.ann_s_keys") == "off", "the first beacon leaves", limit=LEAVING)
    house.settle()
    house.check(not house.fired(mark) and home.seen() == ("home", "1"), "Ann stays home", (home.seen(), house.fired(mark)))
    bag.leaves()
    home.becomes("not_home", 0, "she leaves with the second beacon", LEAVING)
    house.broker.publish("phone/place", json.dumps(place), retain=True)
    home.becomes("home", 1, "and comes with the phone alone")
    house.broker.publish("homeassistant/device_tracker/ann_phone/config", "")
    house.comes(lambda: ha.state(phone) is None, "the phone is removed")
    house.broker.publish("phone/place", "", retain=True)


@case("phone with a key")
def check_key(house):
    """A person with only a phone, which changes its address, comes and leaves."""
    ha, key = house.home_assistant, "ec0234a357c8ad05341010a60a397d9b"
    secret = FOLDER / "irk"
    # In the order of a Mac, which is the reverse of what the phone uses.
    secret.write_text(bytes.fromhex(key)[::-1].hex())
    secret.chmod(0o600)
    gateway = house.gateway(configuration(
        ['{ name: "Ann is home", beacon: "Ann\'s phone", exit-timeout: 20s }'],
        [f'{{ name: "Ann\'s phone", irk: {{ file: "{secret}" }}, tracker: true, exit-timeout: 20s }}']))
    tracker = house.comes(
        lambda: ha.entities("Ann's phone", "device_tracker."), "the phone has a tracker",
        lambda: ha.entities("Ann's phone"))[0]
    make_person(house, tracker)

    def seen():
        return ha.state("person.ann"), ha.state("zone.home")

    house.comes(lambda: seen() == ("not_home", "0"), "Ann, whose phone has not sent yet, is not home", seen)
    phone = Phone(key)
    house.beacons.append(phone)
    phone.comes()
    house.comes(lambda: seen() == ("home", "1"), "Ann comes home with her phone", seen)
    gateway.program.says("reverse order")
    mark = ha.mark()
    house.settle(10)
    changes = ha.since(mark, "person.ann", tracker)
    house.check(not changes, "she stays home while her phone changes its address", changes)
    phone.leaves()
    house.comes(lambda: seen() == ("not_home", "0"), "she leaves with her phone", seen, 45)
    house.check(not {key, secret.read_text()} & set(gateway.program.log().split()), "the key is not in the log")

"""The environment of the cases: a broker, Home Assistant, gateways and beacons, and the results."""

import time
import traceback

from home_assistant import HomeAssistant
from programs import BROKER_PORT, UUID, Beacon, Broker, Gateway, Timeout, end_all, until

# How many seconds to wait for unwanted effects after all earlier messages have arrived.
QUIET = 2

cases = {}


def case(name, quick=False):
    """Registers a function as a case, which gets the house. `quick` adds it to the quick cases."""
    def add(function):
        function.is_quick = quick
        cases[name] = function
        return function
    return add


class House:
    """All programs. Each case begins with an empty broker and a Home Assistant without devices."""

    def __init__(self):
        self.right, self.wrong = 0, []
        self.gateways, self.beacons, self.markers, self.case = [], [], 0, ""
        self.broker = Broker()
        self.home_assistant = HomeAssistant()
        self.home_assistant.add_broker()

    # MARK: verdicts

    def check(self, is_right, sentence, detail=""):
        if is_right:
            self.right += 1
        else:
            self.wrong.append(f"{self.case}: {sentence}")
        reason = f" ({detail})" if detail and not is_right else ""
        print(f"{'ok  ' if is_right else 'FAIL'} {self.case}: {sentence}{reason}", flush=True)
        return is_right

    def comes(self, condition, sentence, detail=lambda: "", limit=None):
        """Checks that `condition` becomes true."""
        try:
            found = until(condition, sentence, limit)
        except Timeout:
            found = None
        self.check(found, sentence, detail() if not found else "")
        return found

    def run(self, name):
        self.case, began = name, time.monotonic()
        try:
            cases[name](self)
        except Exception as error:  # The other cases run anyway.
            if not isinstance(error, Timeout):
                traceback.print_exc()
            self.check(False, "the case runs to its end", error)
        finally:
            self.clean()
        print(f"     {name}: {time.monotonic() - began:.0f} s", flush=True)

    def clean(self):
        for gateway in self.gateways:
            gateway.remove()
        for beacon in self.beacons:
            beacon.leaves()
        self.gateways, self.beacons = [], []
        if self.broker.program.process.poll() is not None:
            self.broker.start()
        if self.home_assistant.program.process.poll() is not None:
            self.home_assistant.start()
        self.home_assistant.automate({})
        for document in self.home_assistant.documents():
            document.unlink()
        self.broker.clear()
        until(lambda: not self.home_assistant.devices(), "devices remain in Home Assistant after their removal")

    def end(self):
        end_all()

    # MARK: gateways and beacons

    def gateway(self, configuration, name="beacond", wrapper=()):
        gateway = Gateway(name, configuration, wrapper)
        self.gateways.append(gateway)
        return gateway

    def beacon(self, major, minor, distance=0.2):
        beacon = Beacon(major, minor, distance)
        self.beacons.append(beacon)
        return beacon

    def keys(self, distance=0.2):
        """Returns the beacon on Ann's keys."""
        return self.beacon(11, 2, distance)

    # MARK: time

    def settle(self, quiet=QUIET):
        """Waits until all earlier messages have arrived, and then for a quiet time."""
        self.pass_marker()
        time.sleep(quiet)
        self.pass_marker()

    def pass_marker(self):
        """Sends a message through the broker and waits for it in Home Assistant, which then has all earlier ones too."""
        home_assistant = self.home_assistant
        if not any(automation["alias"] == "marker" for automation in home_assistant.automations):
            home_assistant.automations.append(
                {"id": "marker", "alias": "marker", "actions": [{"event": "check"}], "mode": "parallel",
                 "triggers": [{"trigger": "mqtt", "topic": "check/marker"}]})
            home_assistant.load()
        mark = home_assistant.mark()

        def arrived():
            self.broker.publish("check/marker", "")
            end = time.monotonic() + 2
            while time.monotonic() < end:
                if "marker" in home_assistant.fired(mark):
                    return True
                time.sleep(0.05)
            return False
        until(arrived, "Home Assistant gets no message")

    def fired(self, mark):
        """Returns the automations of the case that ran since a mark."""
        return [name for name in self.home_assistant.fired(mark) if name != "marker"]


def region(name, major=None, minor=None, exit_timeout="5s"):
    values = "".join(f", {key}: {value}" for key, value in (("major", major), ("minor", minor)) if value is not None)
    return f'{{ name: "{name}", uuid: {UUID}{values}, exit-timeout: {exit_timeout} }}'


def beacon(name, major, minor, more=""):
    return f'{{ name: "{name}", uuid: {UUID}, major: {major}, minor: {minor}{more} }}'


# Home Assistant remembers removed entities. So each identity has the same name in all cases.
FRONT_ROOM, ANNS_HOUSE, CELLAR = region("front room", 11), region("Ann's house", 11, 2), region("cellar", 17)
BAG, BIKE = beacon("Bag", 11, 3), beacon("Bike", 17, 2)
# Its area becomes a permanent part of its entities' ids.
LAMP = beacon("Lamp", 11, 4, ", place: hall")


def keys(more=""):
    """Returns the configuration of Ann's keys, which belong to the front room and to Ann's house."""
    return beacon("Ann's keys", 11, 2, more)


def configuration(regions=(), beacons=(), destination="", home_assistant="true", more="", source="air"):
    """Returns a configuration of beacond. With its keep-alive the broker notices a lost gateway within 8 s."""
    def items(key, values):
        return f"{key}:\n" + "".join(f"  - {value}\n" for value in values) if values else ""
    return (
        f"sources: [{source}]\n{items('regions', regions)}{items('beacons', beacons)}destinations:\n"
        f"  - {{ name: home, type: mqtt, host: 127.0.0.1, port: {BROKER_PORT}, user: beacond, keep-alive: 5s,\n"
        f"      password: {{ env: MQTT_PASSWORD }}, home-assistant: {home_assistant}{destination} }}\n"
        f"{more}")



"""The access list Examples/mosquitto.acl with the real mosquitto: all that is needed works, and nothing else."""

import pathlib
import re
import subprocess

from case_rooms import DISTANCE, HOME, ROOMS, Relay, Rooms
from programs import BROKER_PORT, FOLDER, PASSWORD, Broker
from house import case

LIST = pathlib.Path(__file__).resolve().parents[3] / "Examples/mosquitto.acl"
# What users may not publish: user, topic.
FOREIGN = [
    ("beacond", "zigbee2mqtt/lamp/set"), ("beacond", "homeassistant/status"), ("beacond", "beacond/cellar/status"),
    ("beacond", "homeassistant/light/lamp/config"), ("beacond", "beacon-relay/kitchen/heard"),
    ("kitchen", "beacon-relay/study/heard"), ("kitchen", "beacond/hall/status"),
    ("kitchen", "homeassistant/device/x/config"), ("ha", "beacond/hall/beacon/Ann's%20keys/state"),
    ("ha", "homeassistant/device/x/config"), ("ha", "beacon-relay/kitchen/status"),
]
# What users may not read: user, topic, and a user who may publish there.
SECRET = [("kitchen", "beacond/hall/check", "beacond"), ("kitchen", "beacon-relay/study/check", "study"),
          ("ha", "beacon-relay/kitchen/check", "kitchen"), ("beacond", "beacon-relay/kitchen/check", "kitchen")]
OWN = [("beacond", "beacond/hall/check"), ("ha", "homeassistant/status"), ("kitchen", "beacon-relay/kitchen/check")]


class AccessList:
    """The broker with the access list. Each relay has its own user."""

    def __init__(self, house):
        self.broker, self.before = house.broker, house.broker.settings.read_text()
        self.passwords = {**Broker.USERS, **dict.fromkeys(ROOMS.values(), PASSWORD)}
        self.broker.end()
        for user in ROOMS.values():
            subprocess.run(["mosquitto_passwd", "-b", FOLDER / "passwords", user, PASSWORD], check=True)
        path = FOLDER / "mosquitto.acl"
        # Home Assistant has another name here, and the house sends it markers.
        text = LIST.read_text().replace("user homeassistant\n", "user ha\ntopic read check/marker\n")
        path.write_text(text.replace("user beacond\n", "user beacond\ntopic write check/marker\n"))
        self.broker.settings.write_text(f"{self.before}acl_file {path}\n")
        self.broker.start()

    def end(self):
        self.broker.end()
        self.broker.settings.write_text(self.before)
        self.broker.start()

    def client(self, program, user, *words):
        return [f"mosquitto_{program}", "-V", "5", "-p", str(BROKER_PORT), "-u", user, "-P", self.passwords[user], *words]

    def refuses(self, user, topic):
        """Returns true if the broker refuses a message, which only MQTT 5 reports."""
        words = self.client("pub", user, "-q", "1", "-d", "-t", topic, "-m", "online")
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
        # The reason code "not authorized".
        return "rc135" in re.sub(r"[^\w]", "", (done.stdout + done.stderr).lower())

    def reads(self, reader, topic, writer):
        """Returns true if a user receives a message of another one."""
        words = self.client("sub", reader, "-t", topic, "-W", "3", "-C", "1")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as client:
            for _ in range(4):
                subprocess.run(self.client("pub", writer, "-q", "1", "-t", topic, "-m", "hello"), capture_output=True)
                try:
                    return "hello" in client.communicate(timeout=0.5)[0]
                except subprocess.TimeoutExpired:
                    pass
            return "hello" in client.communicate()[0]


@case("access list")
def check_access_list(house):
    """Gateway, receivers and Home Assistant work with the list, and the broker refuses and hides foreign topics."""
    access = AccessList(house)
    rooms = None
    try:
        rooms = Rooms(
            house, [Relay(name, DISTANCE * index, name) for index, name in enumerate(ROOMS.values())],
            destination=", topic: beacond/hall")
        rooms.comes(HOME, "the beacon and the rooms have their states", 90)
        house.check("Ann's keys" in house.home_assistant.devices(), "the beacon is a device")
        # The gateway reports missing rights ten seconds after it has published.
        house.settle(12)
        troubles = [line for line in rooms.gateway.program.log().splitlines() if re.search(r" (warning|error): ", line)]
        house.check(not troubles, "the gateway misses no right", troubles)
        rooms.gateway.reload(rooms.file(kitchen="Galley"))
        house.comes(
            lambda: {"Galley"} <= set(house.home_assistant.devices()), "a renamed place is renamed in Home Assistant")
        for user, topic in FOREIGN:
            house.check(access.refuses(user, topic), f"{user} may not publish at {topic}")
        for user, topic in OWN:
            house.check(not access.refuses(user, topic), f"{user} may publish at {topic}")
        for reader, topic, writer in SECRET:
            house.check(not access.reads(reader, topic, writer), f"{reader} does not receive {topic}")
        house.check(access.reads("ha", "beacond/hall/check", "beacond"), "ha receives beacond/hall/check")
    finally:
        if rooms:
            rooms.end()
        access.end()
        # Before Home Assistant is connected again, it would not remove the devices.
        house.pass_marker()

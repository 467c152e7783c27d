"""Checks beacon with ESPHome devices, and its proxy with Home Assistant's libraries. Run by scripts/check-esphome."""

import atexit
import base64
import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading

# A shell makes background jobs ignore Ctrl-C, and the programs here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = pathlib.Path(__file__).resolve().parents[2]
BEACON = str(ROOT / ".build/debug/beacon")
BEACOND = str(ROOT / ".build/debug/beacond")
KEY = base64.b64encode(bytes(range(32))).decode()
# The time limit of each wait in seconds. Only a hang reaches it.
PATIENCE = 120


class Program:
    """A program whose output a thread reads line by line."""

    def __init__(self, *command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=os.environ | (environment or {}))
        # No program may outlive the check, or it could answer the next one.
        atexit.register(self.process.kill)
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait(self, text):
        """Waits for a line that contains a text, and returns it."""
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                sys.exit(f"\"{text}\" did not appear; the last lines are:\n" + "\n".join(self.seen[-40:]))
            if line is None:
                sys.exit(f"the program ended without \"{text}\"; its last lines are:\n" + "\n".join(self.seen[-40:]))
            self.seen.append(line)
            if text in line:
                return line

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        self.wait("done " + text)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        self.process.kill()


class Device(Program):
    def __init__(self, *options):
        super().__init__(sys.executable, str(ROOT / "Tests/Peers/esphome_device.py"), *options)
        self.port = int(self.wait("port ").split()[1])


def beacon(*command, key=None):
    environment = {"BEACON_ESPHOME_KEY": key} if key else {}
    return Program(BEACON, *command, environment=environment)


def home_assistant(name, key=None):
    return Program(sys.executable, str(ROOT / "Tests/Peers/home_assistant.py"), name, *([key] if key else []))


def free_port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def title(text):
    print(f"esphome: {text}", flush=True)


def hears(name, *options, key=None, suffix=""):
    """Checks that beacon receives a device's beacons."""
    device = Device("--name", name, *options)
    scan = beacon("scan", "--json", "--source", f"esphome:127.0.0.1:{device.port}{suffix}", key=key)
    device.wait("hello from swift-beacon")
    scan.wait(f"{name}: connected and listening")
    scan.wait(f'"receiver":"{name}"')
    scan.end()
    device.process.kill()


def says(text, *options, key=None):
    """Checks the message about a device that beacon cannot use, which says what to do."""
    device = Device(*options)
    scan = beacon("scan", "--source", f"esphome:127.0.0.1:{device.port}", key=key)
    scan.wait(text)
    scan.end()
    device.process.kill()


title("plain and encrypted devices, and versions that do not report their state")
hears("hall")
hears("cellar", "--key", KEY, key=KEY)
hears("attic", "--version", "2024.6.0", "--features", "0x3f")
hears("garden", "--version", "2026.8.1", suffix="?take")

title("a device that cannot be used: the message says why")
says("it is encrypted; give its key", "--key", KEY)
says("the key is wrong", "--key", KEY, key=base64.b64encode(bytes(32)).decode())
says("it is not encrypted; leave out the key", key=KEY)
says("it has no bluetooth_proxy:", "--features", "0")
says("it runs ESPHome 2022.12.1; update it", "--version", "2022.12.1", "--features", "0x1f")
says("gives its adverts to the newest client only", "--version", "2026.7.0")

title("a device that another program uses stays with that program")
device = Device()
source = f"esphome:127.0.0.1:{device.port}"
first = beacon("scan", "--source", source)
first.wait("hall: connected and listening")
second = beacon("scan", "--source", source)
device.wait("refused")
second.wait("another one, such as Home Assistant, may have subscribed")
first.end()
second.end()
third = beacon("scan", "--source", source)
third.wait("hall: connected and listening")
third.end()
device.process.kill()

title("another program takes over a device of a new version: beacon reports it, and does not take the device back")
device = Device("--version", "2026.9.0")
source = f"esphome:127.0.0.1:{device.port}?take"
monitor = beacon("monitor", "--json", "--exit-timeout", "3", "--source", source,
                 "--region", "hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0")
monitor.wait('"event":"enter"')
thief = beacon("scan", "--source", source)
device.wait("taken over")
monitor.wait("another program took its adverts")
monitor.wait('"event":"state","state":"unknown"')
thief.end()
monitor.end()
if any('"event":"exit"' in line for line in monitor.seen):
    sys.exit("beacon reported an exit because another program took the adverts")
device.process.kill()

title("silence causes an exit; a stopped scanner or a lost connection does not")
device = Device()
monitor = beacon("monitor", "--json", "--exit-timeout", "3", "--source", f"esphome:127.0.0.1:{device.port}",
                 "--region", "hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0")
monitor.wait('"event":"enter"')
device.say("stop")
monitor.wait("hall: its scanner does not run")
monitor.wait('"event":"state","state":"unknown"')
device.say("start")
monitor.wait('"event":"state","state":"inside"')
device.say("drop")
monitor.wait("hall: it ended the connection. Trying again")
monitor.wait("hall: connected and listening")
device.say("silence")
monitor.wait('"event":"exit"')
monitor.end()
if sum('"event":"exit"' in line for line in monitor.seen) != 1:
    sys.exit("beacon reported more than one exit")
device.process.kill()

title("beacon finds devices by multicast DNS")
device = Device("--name", "porch")
announcer = Program(sys.executable, str(ROOT / "Tests/Peers/esphome_announcer.py"), "porch", str(device.port))
announcer.wait("announced")
scan = beacon("scan", "--json", "--source", "esphome")
scan.wait('"receiver":"porch"')
scan.end()
announcer.process.kill()
device.process.kill()

title("beacon proxy serves Home Assistant's libraries and beacon at the same time")
for key in (None, KEY):
    environment = {"BEACON_PROXY_KEY": key} if key else {}
    port = free_port()
    proxy = Program(BEACON, "proxy", "--source", "simulation:museum?loop", "--name", "porch", "--port", str(port),
                    environment=environment)
    proxy.wait(f"porch is served at port {port}")
    home = home_assistant("porch", key)
    home.wait("found porch.local.")
    home.wait("device porch")
    home.wait("scanning False 0")
    home.wait("scanner RUNNING")
    home.wait("[76]")
    proxy.wait("Home Assistant 2026.11 (127.0.0.1) has the adverts of porch")
    scan = beacon("scan", "--json", "--source", "esphome", key=key)
    scan.wait('"receiver":"porch"')
    # Home Assistant must keep the adverts.
    scan.end()
    # beacon may have used another of the machine's networks.
    proxy.wait("no longer has the adverts of porch")
    proxy.end()
    home.wait("goodbye")
    if any("lost" in line or "Traceback" in line for line in home.seen):
        sys.exit("Home Assistant lost the proxy:\n" + "\n".join(home.seen))
    home.process.kill()

title("beacond forwards a device with one subscriber to many")
device = Device("--name", "attic")
port = free_port()
with tempfile.TemporaryDirectory() as folder:
    configuration = pathlib.Path(folder) / "beacond.yaml"
    configuration.write_text(f"""
sources:
  - name: proxies
    esphome: {{ hosts: ["127.0.0.1:{device.port}"] }}
regions:
  - name: hall
    uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0
proxy: {{ name: tee, port: {port} }}
outbox: {{ path: {folder}/beacond.sqlite }}
""")
    gateway = Program(BEACOND, "--config", str(configuration), environment={"STATE_DIRECTORY": folder})
    gateway.wait(f"tee is served at port {port}")
    home = home_assistant("tee")
    home.wait("device tee")
    home.wait("scanner RUNNING")
    home.wait("[76]")
    others = [beacon("scan", "--json", "--source", f"esphome:127.0.0.1:{port}") for _ in range(2)]
    for scan in others:
        scan.wait('"receiver":"tee"')
    # A proxy that forwards adverts of other receivers is not a receiver.
    finder = beacon("scan", "--source", "esphome")
    finder.wait("tee: it forwards adverts of other receivers, so it is not used")
    device.say("stop")
    home.wait("scanner FAILED")
    device.say("start")
    home.wait("scanner RUNNING")
    for scan in [*others, finder]:
        scan.end()
    gateway.end()
    home.wait("goodbye")
    home.process.kill()
device.process.kill()

title("each receiver is a separate proxy")
port = free_port()
proxy = Program(BEACON, "proxy", "--each", "--source", "simulation:department-store?loop", "--name", "store",
                "--port", str(port), environment={"XDG_STATE_HOME": tempfile.mkdtemp()})
name = proxy.wait("is served at port").split()[0]
home = home_assistant(name)
home.wait(f"device {name}")
home.wait("[76]")
proxy.end()
home.process.kill()
print("esphome: all checks passed")

"""Checks the container image without privileges, and the Home Assistant app with a stand-in for its supervisor.

Run by scripts/check-image.
"""

import atexit
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import yaml

NETWORK = "swift-beacon-check"
# The supervisor's network and addresses (Home Assistant's documentation, "Presenting your app", Ingress).
SUBNET, HOST, SUPERVISOR = "172.30.32.0/23", "172.30.32.1", "172.30.32.2"
SUFFIX = os.environ.get("SUFFIX", "")
IMAGE, APP = f"localhost/swift-beacon{SUFFIX}", f"localhost/swift-beacon-app{SUFFIX}"
UUID = "02f07e83-abd6-4243-90a8-3617c9c74e70"
TOKEN = "token-of-the-stand-in"

folder = pathlib.Path(tempfile.mkdtemp())
os.chmod(folder, 0o755)
processes, containers = [], []
count = 0


def run(*words, check=True, text=None):
    """Runs a program to its end. Returns its status and output."""
    outcome = subprocess.run(words, capture_output=True, text=True, input=text, timeout=300)
    if check and outcome.returncode != 0:
        sys.exit(f"{' '.join(words)}: {outcome.returncode}\n{outcome.stdout[-2000:]}{outcome.stderr[-2000:]}")
    return outcome


def podman(*words, check=True):
    return run("podman", *words, check=check)


def passed(what):
    global count
    count += 1
    print(f"ok   {what}", flush=True)


def expect(what, condition, detail=""):
    if not condition:
        logs = "".join(f"--- {name}\n{podman('logs', name, check=False).stderr[-3000:]}" for name in containers)
        sys.exit(f"FAIL {what}\n{detail}\n{logs}")
    passed(what)


def wait(what, condition, seconds=120):
    """Waits until `condition` returns a true value, and returns it. Only a hang reaches the limit."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            expect(what, False)
        time.sleep(0.2)
    passed(what)
    return found


def end():
    for name in containers:
        podman("rm", "--force", "--time", "1", name, check=False)
    for process in processes:
        process.kill()
    podman("network", "rm", "--force", NETWORK, check=False)
    podman("volume", "rm", "--force", "swift-beacon-check", "swift-beacon-check-setup", check=False)
    shutil.rmtree(folder, ignore_errors=True)


atexit.register(end)

# Lets containers run in sandboxes that do not allow raising limits, and that use version 1 of control groups.
if podman("run", "--rm", "--network", "none", IMAGE, "true", check=False).returncode != 0:
    settings = folder / "containers.conf"
    settings.write_text(
        '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n')
    os.environ["CONTAINERS_CONF"] = str(settings)


def start(image, *options, command=()):
    """Starts a container, which is removed at the end of the check."""
    name = f"swift-beacon-check-{len(containers)}"
    containers.append(name)
    podman("run", "--detach", "--name", name, *options, image, *command)
    return name


def inside(name, *words, check=False):
    return podman("exec", name, *words, check=check)


# --- The image, without a network, privileges, or a writable file system.
bare = ("--rm", "--read-only", "--network", "none", "--cap-drop", "all", "--security-opt", "no-new-privileges")
image = json.loads(podman("image", "inspect", IMAGE).stdout)[0]
expect("the image does not run as root", image["Config"]["User"] == "65532:65532", str(image["Config"]))
expect("it has a health check", image["HealthCheck" if "HealthCheck" in image else "Healthcheck"]["Test"][1:] == [
    "beacond", "ready"])
sensed = podman("run", *bare, IMAGE, "beacon", "range", "--source", "simulation:museum", "--speed", "max", "--json").stdout
expect("a simulation is ranged", '"immediate"' in sensed)
expect("the file system is read-only", podman("run", *bare, IMAGE, "sh", "-c", "touch /x /usr/x", check=False).returncode != 0)
expect("its default configuration is valid", podman("run", *bare, IMAGE, "beacond", "check").stdout == "")
missing = podman("run", *bare, IMAGE, "sh", "-c", "ldd /usr/bin/beacon /usr/bin/beacond").stdout
expect("it has all libraries, and needs none of Swift's", "not found" not in missing and "swift" not in missing, missing)


def doctor(*options):
    return podman("run", "--rm", "--network", "none", *options, IMAGE, "beacon", "doctor", "--json", check=False).stdout


raw = ("--cap-drop", "all", "--cap-add", "NET_RAW", "--cap-add", "NET_ADMIN")
expect("the capabilities permit raw HCI", "may use raw HCI sockets and" in doctor(*raw), doctor(*raw))
expect("without them raw HCI is not permitted", "may not use raw HCI sockets" in doctor("--cap-drop", "all"))

# --- With a broker on the host, as a source and as a destination.
podman("network", "rm", "--force", NETWORK, check=False)
bridge = podman("network", "create", "--subnet", SUBNET, "--gateway", HOST, NETWORK) and NETWORK
# The bridge exists once the first container runs.
first = start(IMAGE, "--network", bridge, command=("sleep", "600"))
device = run("ip", "-o", "-4", "address", "show", "to", f"{HOST}/32").stdout.split()[1]
run("ip", "address", "add", f"{SUPERVISOR}/32", "dev", device)
passwords = folder / "passwords"
run("mosquitto_passwd", "-c", "-b", str(passwords), "addons", "secret")
os.chmod(passwords, 0o644)
(folder / "mosquitto.conf").write_text(
    f"listener 1883 {HOST}\nallow_anonymous false\npassword_file {passwords}\npersistence false\n")
processes.append(subprocess.Popen(["mosquitto", "-c", str(folder / "mosquitto.conf")], stderr=subprocess.DEVNULL))
account = ("-h", HOST, "-u", "addons", "-P", "secret")
wait("the broker accepts messages", lambda: run(
    "mosquitto_pub", *account, "-t", "x", "-m", "x", check=False).returncode == 0)


def messages(topic):
    """Returns the retained messages of a topic."""
    lines = run("mosquitto_sub", *account, "-t", topic, "-W", "1", "-F", "%t %p", "--retained-only", check=False).stdout
    return dict(line.split(" ", 1) for line in lines.splitlines() if " " in line)


configuration = folder / "beacond.yaml"
configuration.write_text(f"""
sources:
  - {{ name: house, mqtt: {{ host: {HOST}, user: addons, password: {{ env: BROKER_PASSWORD }} }} }}
regions: [{{ name: hall, uuid: {UUID} }}]
beacons: [{{ name: visitor, uuid: {UUID}, major: 1, minor: 1 }}]
destinations:
  - {{ name: home, type: mqtt, host: {HOST}, user: addons, password: {{ env: BROKER_PASSWORD }}, home-assistant: true, topic: container }}
web: true
""")
os.chmod(configuration, 0o644)
gateway = start(
    IMAGE, "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges", "--network", bridge,
    "--env", "BROKER_PASSWORD=secret", "--volume", f"{configuration}:/etc/beacond.yaml:ro",
    "--volume", "swift-beacon-check:/var/lib/beacond")
data = "4c000215" + UUID.replace("-", "") + "00010001c5"


def advertise():
    """Publishes an advert as OpenMQTTGateway does."""
    message = {"id": "C8:25:2D:8E:9C:2C", "rssi": -60, "manufacturerdata": data}
    run("mosquitto_pub", *account, "-t", "home/OpenMQTTGateway/BTtoMQTT/C8252D8E9C2C", "-m", json.dumps(message))


def entered():
    advertise()
    return any(value == "inside" or '"inside"' in value for value in messages("container/#").values())


wait("beacond gets a receiver's advert from the broker, and publishes its region there", entered)
wait("it is ready", lambda: inside(gateway, "beacond", "ready").returncode == 0)
expect("its health check succeeds", podman("healthcheck", "run", gateway, check=False).returncode == 0)
wait("beacond announces devices to Home Assistant", lambda: any("visitor" in value for value in messages("homeassistant/#").values()))
expect("it runs as its own user", inside(gateway, "id", "-u").stdout.strip() == "65532")
podman("stop", "--time", "30", gateway)
state = json.loads(podman("inspect", gateway).stdout)[0]["State"]
expect("it ends with status 0", state["ExitCode"] == 0, str(state))
expect("its state is in the volume", "beacond.sqlite" in podman(
    "run", "--rm", "--network", "none", "--volume", "swift-beacon-check:/var/lib/beacond", IMAGE, "ls", "/var/lib/beacond").stdout)

# --- The setup in the image, which writes its files beside the state.
kept = ("--volume", "swift-beacon-check-setup:/var/lib/beacond", "--network", bridge)
written = "/var/lib/beacond/beacond.yaml"
podman(
    "run", "--rm", *kept, "--env", "BEACON_BROKER_PASSWORD=secret", IMAGE, "beacond", "setup", "--config", written,
    "--home-assistant", HOST, "--user", "addons", "--source", "simulation:museum", "--listen", "0.0.0.0:8099",
    "--beacon", f"Set up={UUID}/1/1")
made = start(
    IMAGE, *kept, "--hostname", "beacond", "--read-only", "--cap-drop", "all", "--env", f"BEACOND_CONFIG={written}")
wait("a container runs with the configuration that the setup in the image made", lambda: inside(made, "beacond", "ready").returncode == 0)
wait("its devices have the container's host name, and appear at the broker", lambda: any(
    "beacond-beacond" in topic and "Set up" in value for topic, value in messages("homeassistant/#").items()))


# --- The app, with a stand-in for the supervisor that knows only the broker.
class Supervisor(http.server.BaseHTTPRequestHandler):
    has_broker = True
    asked = []

    def do_GET(self):
        Supervisor.asked.append((self.path, self.headers.get("Authorization")))
        right = self.headers.get("Authorization") == f"Bearer {TOKEN}" and self.path == "/services/mqtt"
        if right and Supervisor.has_broker:
            status, answer = 200, {"result": "ok", "data": {
                "addon": "core_mosquitto", "host": HOST, "port": 1883, "ssl": False, "username": "addons",
                "password": "secret", "protocol": "3.1.1"}}
        else:
            status, answer = 400, {"result": "error", "message": "Service not enabled"}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer((SUPERVISOR, 80), Supervisor)
threading.Thread(target=server.serve_forever, daemon=True).start()

options = {
    **yaml.safe_load(pathlib.Path("Packaging/home-assistant/config.yaml").read_text())["options"],
    "sources": ["simulation:department-store"], "broker_receivers": True,
    "regions": [{"name": "store 1", "uuid": UUID, "major": 1, "exit_timeout": "40s"}],
    "beacons": [{"name": "Perfume counter", "uuid": UUID, "major": 1, "minor": 1}],
}


def install(options, own=None):
    """Starts the app as the supervisor does: with its options in /data, only for root, and the user's folder at /config."""
    place = folder / f"app-{len(containers)}"
    (place / "data").mkdir(parents=True)
    (place / "config").mkdir()
    (place / "data/options.json").write_text(json.dumps(options))
    os.chmod(place / "data/options.json", 0o600)
    if own:
        (place / "config/beacond.yaml").write_text(own)
    return start(
        APP, "--network", bridge, "--add-host", f"supervisor:{SUPERVISOR}", "--env", f"SUPERVISOR_TOKEN={TOKEN}",
        "--volume", f"{place}/data:/data", "--volume", f"{place}/config:/config:ro"), place


def address(name):
    return json.loads(podman("inspect", name).stdout)[0]["NetworkSettings"]["Networks"][NETWORK]["IPAddress"]


def ask(name, path, source, *more):
    """Returns the status of the app's answer to a client with an address."""
    return run(
        "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "10", "--interface", source, *more,
        f"http://{address(name)}:8099{path}", check=False).stdout


app, place = install(options)
wait("the app is ready", lambda: ask(app, "/v1/ready", SUPERVISOR) == "200")
wait("its beacons are devices in Home Assistant", lambda: any(
    "Perfume counter" in value for value in messages("homeassistant/#").values()))
wait("its regions are too", lambda: any("store 1" in value for value in messages("homeassistant/#").values()))
wait("its regions are at the broker", lambda: any("/region/store%201/" in topic for topic in messages("beacond/#")))
home = ("-H", "Host: home.local:8123", "-H", "X-Ingress-Path: /api/hassio_ingress/x")
expect("the page opens through ingress, without a token", ask(app, "/", SUPERVISOR, *home) == "200")
expect("the watchdog gets an answer", ask(app, "/v1/live", SUPERVISOR) == "200")
expect("the page gets its data", ask(app, "/v1/status", SUPERVISOR, *home) == "200")
expect("other clients are refused", ask(app, "/v1/status", HOST, *home) == "403" and ask(app, "/", HOST) == "403")
rights = inside(app, "sh", "-c", "for p in /proc/[0-9]*; do echo $(cat $p/comm) $(grep -hE '^(CapPrm|CapBnd|NoNewPrivs)' $p/status); done")
expect("beacond has no capability of root there", f"beacond CapPrm: {0:016x} CapBnd: {0:016x} NoNewPrivs: 1" in rights.stdout,
       rights.stdout)
environment = inside(app, "sh", "-c", 'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != beacond ] || cat $p/environ; done').stdout
expect("beacond does not have the supervisor's token", TOKEN not in environment and "MQTT_PASSWORD" in environment)
written = (place / "data/beacond/beacond.yaml").read_text()
expect("its configuration contains no secret", "secret" not in written and '"exit-timeout": "40s"' in written, written)
podman("restart", "--time", "30", app)
wait("it starts again", lambda: ask(app, "/v1/ready", SUPERVISOR) == "200")
podman("stop", "--time", "30", app)

Supervisor.has_broker = False
alone, _ = install(options)
wait("without a broker it runs, and logs what is missing", lambda: ask(
    alone, "/v1/ready", SUPERVISOR) == "200" and "Mosquitto broker" in podman("logs", alone).stdout)
podman("stop", "--time", "30", alone)

deaf, _ = install({**options, "sources": ["auto"]})
wait("without a radio it is alive", lambda: ask(deaf, "/v1/live", SUPERVISOR) == "200")
expect("but not ready", ask(deaf, "/v1/ready", SUPERVISOR) == "503")
podman("stop", "--time", "30", deaf)
Supervisor.has_broker = True

wrong, _ = install({**options, "regions": [{"name": "hall", "uuid": "not-a-uuid"}]})
wait("invalid options end it", lambda: json.loads(podman("inspect", wrong).stdout)[0]["State"]["Status"] == "exited")
log = podman("logs", wrong)
expect("the log has the error", "not-a-uuid" in log.stdout + log.stderr)

own, _ = install(options, own=f"""
sources: [simulation:department-store]
regions: [{{ name: own region, uuid: {UUID} }}]
beacons: [{{ name: own beacon, uuid: {UUID}, major: 1, minor: 1 }}]
destinations:
  - {{ name: home, type: mqtt, host: {HOST}, user: addons, password: {{ env: MQTT_PASSWORD }}, home-assistant: true }}
web: {{ listen: "0.0.0.0:8099", trusted-proxies: [{SUPERVISOR}], names: ["*"] }}
""")
wait("a configuration file of the user replaces the options", lambda: any(
    "own beacon" in value for value in messages("homeassistant/#").values()))
expect("and its page opens", ask(own, "/", SUPERVISOR) == "200" and ask(own, "/", SUPERVISOR, *home) == "200")
print(f"check-image: {count} checks")

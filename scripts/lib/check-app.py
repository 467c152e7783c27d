"""Checks the description of the Home Assistant app against Home Assistant's documentation and this repository.

The documentation is "App configuration" and "Presenting your app" as of August 2026. It also starts the app's script with
several options and stand-ins for the supervisor and for beacond, and checks the configurations that it writes with
beacond, if $PROGRAMS (.build/debug by default) has it. Run by scripts/check-image.
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import yaml

folder = pathlib.Path("Packaging/home-assistant")
faults = []


def fault(text):
    faults.append(text)


BOOLEAN, TEXT, LIST, MAPPING, WHOLE = bool, str, list, dict, int
# Each key with its type or its allowed values.
KEYS = {
    "name": TEXT, "version": TEXT, "slug": re.compile(r"[-_.A-Za-z0-9]+"), "description": TEXT, "arch": LIST, "machine": LIST,
    "url": re.compile(r"https?://\S+"), "startup": {"initialize", "system", "services", "application", "once"},
    "webui": re.compile(r"(https?|\[PROTO:\w+\])://\[HOST\]:\[PORT:\d+\].*"), "boot": {"auto", "manual", "manual_only"},
    "ports": MAPPING, "ports_description": MAPPING, "host_network": BOOLEAN, "host_ipc": BOOLEAN, "host_dbus": BOOLEAN,
    "host_pid": BOOLEAN, "host_uts": BOOLEAN, "devices": LIST, "homeassistant": TEXT,
    "hassio_role": {"default", "homeassistant", "backup", "manager", "admin"}, "hassio_api": BOOLEAN,
    "homeassistant_api": BOOLEAN, "docker_api": BOOLEAN, "privileged": LIST, "full_access": BOOLEAN, "apparmor": BOOLEAN,
    "map": LIST, "environment": MAPPING, "audio": BOOLEAN, "video": BOOLEAN, "gpio": BOOLEAN, "usb": BOOLEAN,
    "uart": BOOLEAN, "udev": BOOLEAN, "devicetree": BOOLEAN, "kernel_modules": BOOLEAN, "stdin": BOOLEAN, "legacy": BOOLEAN,
    "options": MAPPING, "schema": MAPPING, "image": TEXT, "timeout": WHOLE, "tmpfs": BOOLEAN, "discovery": LIST,
    "services": LIST, "auth_api": BOOLEAN, "ingress": BOOLEAN, "ingress_port": WHOLE, "ingress_entry": TEXT,
    "ingress_stream": BOOLEAN, "panel_icon": re.compile(r"mdi:[a-z0-9-]+"), "panel_title": TEXT, "panel_admin": BOOLEAN,
    "backup": {"hot", "cold"}, "backup_pre": TEXT, "backup_post": TEXT, "backup_exclude": LIST,
    "stage": {"stable", "experimental", "deprecated"}, "init": BOOLEAN,
    "watchdog": re.compile(r"(https?|\[PROTO:\w+\]|tcp)://\[HOST\]:(\[PORT:\d+\]|\d+).*"), "realtime": BOOLEAN,
    "journald": BOOLEAN, "breaking_versions": LIST, "ulimits": MAPPING,
}
MAPS = {
    "homeassistant_config", "app_config", "ssl", "addons", "backup", "share", "media", "all_addon_configs", "data",
}
BOUNDS = r"(\([-0-9.]*,[-0-9.]*\))?"
ELEMENT = re.compile(
    rf"(str{BOUNDS}|bool|int{BOUNDS}|float{BOUNDS}|email|url|password{BOUNDS}|port|match\(.*\)|list\(.+\)|device(\(.+\))?)\??")


def check_value(key, value, wanted):
    if isinstance(wanted, set):
        right = value in wanted
    elif isinstance(wanted, re.Pattern):
        right = isinstance(value, str) and wanted.fullmatch(value)
    else:
        right = isinstance(value, wanted) and (wanted is BOOLEAN or not isinstance(value, bool))
    if not right:
        fault(f"config.yaml: {value!r} is not valid for {key}")


def check_schema(path, schema, depth=0):
    """Checks the types in a schema, which may have two levels of lists and mappings."""
    if isinstance(schema, str):
        if not ELEMENT.fullmatch(schema):
            fault(f"config.yaml: schema {path} is {schema!r}, which is not a type")
    elif depth == 2 and not isinstance(schema, str):
        fault(f"config.yaml: schema {path} has more than two levels")
    elif isinstance(schema, list):
        if len(schema) != 1 or isinstance(schema[0], list):
            fault(f"config.yaml: schema {path} is not a list of one type")
        check_schema(path, schema[0], depth + (not isinstance(schema[0], dict)))
    elif isinstance(schema, dict):
        for key, value in schema.items():
            check_schema(f"{path}.{key}", value, depth + 1)
    else:
        fault(f"config.yaml: schema {path} is {schema!r}")


def is_optional(schema):
    return isinstance(schema, str) and schema.endswith("?") or isinstance(schema, list)


def matches(value, schema):
    """Returns true if the supervisor accepts an option with this type."""
    if isinstance(schema, list):
        return isinstance(value, list) and all(matches(item, schema[0]) for item in value)
    if isinstance(schema, dict):
        return isinstance(value, dict) and all(
            key in schema and matches(value[key], schema[key]) for key in value) and all(
            key in value or is_optional(schema[key]) for key in schema)
    kind = schema.removesuffix("?")
    if kind == "bool":
        return isinstance(value, bool)
    name, _, argument = kind.partition("(")
    argument = argument[:-1]
    if name == "list":
        return value in argument.split("|")
    if name == "match":
        return isinstance(value, str) and bool(re.match(argument, value))
    size = value if name == "int" else len(value) if isinstance(value, str) else None
    if name == "int" and (not isinstance(value, int) or isinstance(value, bool)) or size is None:
        return False
    low, high = argument.split(",") if argument else ("", "")
    return (not low or size >= int(low)) and (not high or size <= int(high))


config = yaml.safe_load((folder / "config.yaml").read_text())
for key in ("name", "version", "slug", "description", "arch"):
    if key not in config:
        fault(f"config.yaml: {key} is missing")
for key, value in config.items():
    if key in KEYS:
        check_value(key, value, KEYS[key])
    else:
        fault(f"config.yaml: unknown key {key}")
for arch in config["arch"]:
    if arch not in ("aarch64", "amd64"):
        fault(f"config.yaml: unknown architecture {arch}")
for service in config.get("services", []):
    if not re.fullmatch(r"(mqtt|mysql):(provide|want|need)", service):
        fault(f"config.yaml: unknown service {service}")
for entry in config.get("map", []):
    if (entry["type"] if isinstance(entry, dict) else entry.split(":")[0]) not in MAPS:
        fault(f"config.yaml: unknown folder {entry}")
schema, options = config.get("schema", {}), config.get("options", {})
for key, value in schema.items():
    check_schema(key, value)
    if (isinstance(value, str) and value.endswith("?")) == (key in options):
        fault(f"config.yaml: {key} needs either a default or a type that ends with ?")
for key, value in options.items():
    if key not in schema or not matches(value, schema[key]):
        fault(f"config.yaml: the default of {key} does not have its type")

# Each language has a name and a description for each option, and no others.
for file in sorted((folder / "translations").iterdir()):
    words = yaml.safe_load(file.read_text())
    if set(words) - {"configuration", "network"}:
        fault(f"{file.name}: only configuration and network are allowed")
    if set(words["configuration"]) != set(schema):
        fault(f"{file.name}: {set(words['configuration']) ^ set(schema)} is in the schema or in the translation, but not in both")
    for key, texts in words["configuration"].items():
        if not (isinstance(texts.get("name"), str) and isinstance(texts.get("description"), str)):
            fault(f"{file.name}: {key} has no name or no description")
if not (folder / "translations/en.yaml").exists():
    fault("translations/en.yaml is missing")

for name, size in (("icon.png", (128, 128)), ("logo.png", (250, 100))):
    head = (folder / name).read_bytes()[:24]
    if head[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", head[16:]) != size:
        fault(f"{name} is not a PNG of {size[0]} by {size[1]} pixels")
for name in ("README.md", "DOCS.md"):
    if not (folder / name).read_text().strip():
        fault(f"{name} is empty")

program = pathlib.Path("Sources/BeaconSupport/Text/ProgramVersion.swift").read_text()
if f'"{config["version"]}"' not in program:
    fault(f"config.yaml: the version {config['version']} differs from that of the programs")

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
KITCHEN = {"name": "Kitchen", "receivers": ["kitchen"]}
IRK = "ec0234a357c8ad05341010a60a397d9b"
SHELF = {"name": "Shelf", "uuid": UUID, "major": 1, "minor": 7, "place": "Kitchen"}
# The options that DOCS.md shows, and others that a user may write.
shown = yaml.safe_load(re.search(r"```yaml\n(sources: .*?)```", (folder / "DOCS.md").read_text(), re.S)[1])
GOOD = {
    "the defaults": {},
    "the options of DOCS.md": shown,
    "all options": {
        **shown, "broker_topics": ["acme/+/scan"], "esphome_hosts": ["hall.local", "10.0.0.7:6054"], "esphome_key": KEY,
        "places": [KITCHEN, {"name": "Bath", "receivers": ["bath 1", "bath 2"]}], "proxy": "each", "proxy_key": KEY,
        "beacons": [*shown["beacons"], SHELF], "phones": [{"name": "Ann's phone", "key": IRK}], "language": "de", "log": "debug"},
    "one proxy": {"proxy": "one"},
    "only receivers at the broker": {"sources": [], "broker_receivers": True, "places": [KITCHEN]},
}
# The supervisor refuses these when a user saves them.
BAD = [
    {"places": ["Kitchen"]}, {"places": [{"receivers": ["kitchen"]}]}, {"places": [{"name": "", "receivers": ["a"]}]},
    {"places": [{"name": "Kitchen", "receivers": "kitchen"}]}, {"places": [{"name": "Kitchen", "receivers": [""]}]},
    {"places": [{**KITCHEN, "area": "x"}]}, {"proxy": True}, {"proxy": "all"}, {"proxy_key": "short"}, {"language": "fr"},
    {"broker_topics": ["a b"]}, {"broker_topics": "a"}, {"beacons": [{**SHELF, "place": ""}]}, {"sources": ["nonsense"]},
    {"beacons": [{**SHELF, "major": 65536}]}, {"regions": [{"name": "hall", "uuid": "not-a-uuid"}]},
    {"regions": [{"name": "hall", "uuid": UUID, "exit_timeout": ".5"}]}, {"log": "loud"}, {"esphome_hosts": ["a/b"]},
    {"phones": [{"name": "Ann"}]}, {"phones": [{"name": "Ann", "key": "short"}]},
]
for changes in BAD:
    if matches({**options, **changes}, schema):
        fault(f"config.yaml: the schema accepts {changes}")

beacond = pathlib.Path(os.environ.get("PROGRAMS", ".build/debug")) / "beacond"
SECRETS = {"MQTT_PASSWORD": "b3ac:on d", "ESPHOME_KEY": KEY, "PROXY_KEY": KEY, "PHONE_0": IRK}


def run(chosen, has_broker):
    """Runs the app's script with options, in a folder. Returns its output and the configuration that it writes."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        for part in ("data", "config", "bin"):
            (place / part).mkdir()
        broker = {"host": "core-mosquitto", "port": 1883, "ssl": False, "username": "addons", "password": SECRETS["MQTT_PASSWORD"]}
        answer = {"result": "ok", "data": broker} if has_broker else {"result": "error", "message": "Service not enabled"}
        for program, text in (
                ("curl", f"cat <<'END'\n{json.dumps(answer)}\nEND"), ("setpriv", "env > environment")):
            (place / "bin" / program).write_text(f"#!/bin/sh\n{text}\n")
            (place / "bin" / program).chmod(0o755)
        (place / "data/options.json").write_text(json.dumps(chosen))
        script = (folder / "run").read_text().replace("=/data", f"={place}/data").replace("=/config", f"={place}/config")
        done = subprocess.run(
            ["sh", "-c", script], cwd=place, capture_output=True, text=True,
            env={"PATH": f"{place}/bin:/usr/bin:/bin", "SUPERVISOR_TOKEN": "token"})
        written = place / "data/beacond/beacond.yaml"
        if done.returncode or not written.exists():
            return done.stdout + done.stderr, None, ""
        text = written.read_text()
        if "token" in (place / "environment").read_text().lower():
            fault("run: beacond gets the supervisor's token")
        for number, phone in enumerate(chosen["phones"]):
            if f"PHONE_{number}={phone['key']}\n" not in (place / "environment").read_text():
                fault(f"run: beacond does not get the key of {phone['name']}")
        verdict = ""
        if beacond.exists():
            checked = subprocess.run(
                [beacond, "check", written], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": name, **SECRETS})
            lines = (checked.stdout + checked.stderr).splitlines()
            verdict = "\n".join(line for line in lines if checked.returncode or re.search(r": (warning|error): ", line))
        return done.stdout + done.stderr, text, verdict


for name, changes in GOOD.items():
    chosen = {**options, **changes}
    if not matches(chosen, schema):
        fault(f"config.yaml: the schema refuses {name}: {[key for key in chosen if not matches(chosen[key], schema[key])]}")
    for has_broker in (True, False):
        output, text, verdict = run(chosen, has_broker)
        where = f"run, with {name}, {'with' if has_broker else 'without'} a broker"
        if text is None:
            fault(f"{where}: {output}")
            continue
        if any(secret in text for secret in SECRETS.values()):
            fault(f"{where}: the configuration has a secret")
        # The supervisor's log shows these lines. Without a broker or with a proxy there is one for the user.
        expected = (not has_broker) + (chosen["proxy"] != "none")
        if len(output.splitlines()) != expected:
            fault(f"{where}: it prints {output!r}")
        if verdict and (has_broker or chosen["sources"]):
            fault(f"{where}: beacond check prints {verdict}")
        result = json.loads(text)
        if result.get("places", []) != chosen["places"] or bool(result["proxy"]) != (chosen["proxy"] != "none"):
            fault(f"{where}: places or proxy are missing: {text}")
        names = [beacon["name"] for beacon in result["beacons"] if "irk" in beacon]
        if names != [phone["name"] for phone in chosen["phones"]]:
            fault(f"{where}: phones are missing: {text}")
        if has_broker and result["destinations"][0]["home-assistant"] != {"language": chosen["language"]}:
            fault(f"{where}: the language is missing: {text}")

for text in faults:
    print(text, file=sys.stderr)
if faults:
    sys.exit(1)
if not beacond.exists():
    print(f"check-app: {beacond} does not exist, so it has not checked the configurations", file=sys.stderr)
print(f"check-app: {len(config)} keys, {len(schema)} options, {len(list((folder / 'translations').iterdir()))} languages")

"""Checks the description of the Home Assistant app against Home Assistant's documentation and this repository.

The documentation is "App configuration" and "Presenting your app" as of August 2026. Run by scripts/check-image.
"""

import pathlib
import re
import struct
import sys

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


def matches(value, schema):
    """Returns true if a default has the type of the schema."""
    if isinstance(schema, list):
        return isinstance(value, list) and all(matches(item, schema[0]) for item in value)
    if isinstance(schema, dict):
        return isinstance(value, dict) and all(key in schema and matches(value[key], schema[key]) for key in value)
    kind = schema.rstrip("?")
    if kind == "bool":
        return isinstance(value, bool)
    if kind.startswith("int"):
        return isinstance(value, int) and not isinstance(value, bool)
    if kind.startswith("list("):
        return value in kind[5:-1].split("|")
    return isinstance(value, str)


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
    is_optional = isinstance(value, str) and value.endswith("?")
    if is_optional == (key in options):
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

for text in faults:
    print(text, file=sys.stderr)
if faults:
    sys.exit(1)
print(f"check-app: {len(config)} keys, {len(schema)} options, {len(list((folder / 'translations').iterdir()))} languages")

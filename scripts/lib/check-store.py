"""Checks a repository for Home Assistant's app store with the Supervisor's schemas. Run by scripts/check-store.

usage: check-store.py FOLDER-OF-THE-SUPERVISOR REPOSITORY

It reads the files as the Supervisor does (supervisor/store/data.py), and then compares each file with what its schema made
of it. The Supervisor needs Python 3.14, Docker and D-Bus; its schemas do not. So modules that they only name are empty
here, and `except A, B:` gets its parentheses.
"""

import copy
import importlib.abc
import importlib.util
import logging
import pathlib
import re
import struct
import sys
import types

import voluptuous
import yaml

supervisor, repository = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
EMPTY = {
    "aiohttp", "aiohttp.web", "supervisor.coresys", "supervisor.hardware.data", "supervisor.jobs", "supervisor.store",
    "supervisor.utils", "supervisor.utils.dt",
}


class Anything(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, item: cls), "__init__": lambda *_, **__: None})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] not in ("supervisor", "aiohttp"):
            return None
        file = supervisor / name.replace(".", "/")
        package = file.is_dir() or name == "aiohttp"
        spec = importlib.util.spec_from_loader(name, self, is_package=package)
        spec.loader_state = file / "__init__.py" if package else file.with_suffix(".py")
        return spec

    def create_module(self, spec):
        return Anything(spec.name) if spec.name in EMPTY else None

    def exec_module(self, module):
        if module.__name__ in EMPTY:
            return
        source = module.__spec__.loader_state.read_text()
        source = re.sub(r"^( *except )([\w.]+(?:, [\w.]+)+):", r"\1(\2):", source, flags=re.M)
        exec(compile(source, str(module.__spec__.loader_state), "exec"), module.__dict__)


sys.meta_path.insert(0, Finder())
from supervisor.apps.options import AppOptions  # noqa: E402
from supervisor.apps.validate import SCHEMA_APP_CONFIG, SCHEMA_APP_TRANSLATIONS  # noqa: E402
from supervisor.store.validate import SCHEMA_REPOSITORY_CONFIG  # noqa: E402

warnings = []


class Collector(logging.Handler):
    def emit(self, record):
        warnings.append(record.getMessage())


logging.getLogger("supervisor").addHandler(Collector(logging.INFO))


def removed(given, kept, path=""):
    """Returns the keys and entries of a file that its schema left out."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key not in kept:
                yield f"{path}{key}"
            else:
                yield from removed(value, kept[key], f"{path}{key}.")
    elif isinstance(given, list) and isinstance(kept, list):
        if len(given) != len(kept):
            yield f"{path}: {len(given) - len(kept)} of {len(given)} entries"
        for number, (one, other) in enumerate(zip(given, kept)):
            yield from removed(one, other, f"{path}{number}.")


def faults_of(name, schema, content):
    """Returns what the Supervisor refuses, removes or warns of."""
    warnings.clear()
    try:
        kept = schema(copy.deepcopy(content))
    except voluptuous.Invalid as error:
        return [f"{name}: {error}"]
    return [f"{name}: the Supervisor removes {key}" for key in removed(content, kept)] + [f"{name}: {text}" for text in warnings]


def read(file):
    return yaml.safe_load(file.read_text())


def options(config):
    return AppOptions(None, config["schema"], config["name"], config["slug"])


faults = faults_of("repository.yaml", SCHEMA_REPOSITORY_CONFIG, read(repository / "repository.yaml"))
# The Supervisor takes each such file for an app.
found = sorted(file for ending in ("yaml", "yml", "json") for file in repository.glob(f"**/config.{ending}"))
if len(found) != 1:
    sys.exit(f"{repository}: it must have one config.yaml, and has {len(found)}")
app = found[0].parent
config = read(app / "config.yaml")
faults += faults_of("config.yaml", SCHEMA_APP_CONFIG, config)
faults += faults_of("config.yaml, options", options(config), config["options"])
for file in sorted((app / "translations").iterdir()):
    faults += faults_of(f"translations/{file.name}", SCHEMA_APP_TRANSLATIONS, read(file))

# What the store shows, and what it needs besides the schemas.
current = re.search(r'current = "(.*)"', pathlib.Path("Sources/BeaconSupport/Text/ProgramVersion.swift").read_text())[1]
if config["version"] != current:
    faults.append(f"config.yaml: the version is {config['version']}, and that of the image is {current}")
if "image" not in config or "{" in config["image"]:
    faults.append("config.yaml: one image for all processors is missing")
for name in ("DOCS.md", "README.md", "CHANGELOG.md", "icon.png", "logo.png", "translations/en.yaml"):
    if not (app / name).is_file():
        faults.append(f"{name} is missing")
for name, width, height in (("icon.png", 128, 128), ("logo.png", 250, 100)):
    size = struct.unpack(">II", (app / name).read_bytes()[16:24])
    if size != (width, height):
        faults.append(f"{name} has {size[0]} × {size[1]} pixels; the store shows {width} × {height}")

# The check must see these faults.
for change, expected in (
    ({"colour": "red"}, "removes colour"), ({"map": ["app_config", "nowhere"]}, "invalid map entry"),
    ({"map": ["addon_config"]}, "legacy map type"), ({"arch": ["amd64", "armv7"]}, "deprecated 'arch'"),
    ({"startup": "before"}, "deprecated 'startup'"), ({"image": config["image"] + ":1"}, "must not contain a tag"),
    ({"url": "nowhere"}, "url"), ({"schema": {"log": "word"}}, "schema"),
):
    seen = faults_of("config.yaml", SCHEMA_APP_CONFIG, {**config, **change})
    if not any(expected in text for text in seen):
        faults.append(f"this check does not see {change}: {seen}")
if not faults_of("repository.yaml", SCHEMA_REPOSITORY_CONFIG, {"name": "x", "colour": "red"}):
    faults.append("this check does not see unknown keys of repository.yaml")
if not faults_of("options", options(config), {**config["options"], "colour": "red"}):
    faults.append("this check does not see unknown options")

for text in faults:
    print(text, file=sys.stderr)
if faults:
    sys.exit(1)
print(f"check-store: {config['name']} {config['version']}, {len(config)} keys, image {config['image']}")

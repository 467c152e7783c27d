#!/usr/bin/env python3
"""Checks that the JSON Schema of the configuration accepts and rejects the same configurations as beacond.

usage: scripts/lib/check-schema.py BEACOND [MUTANTS]

MUTANTS is a folder of configurations with mistakes. Each is N.yaml, with beacond's messages in N.told.
MutatedConfigurationTests writes them into the folder BEACON_WRITE_MUTANTS. Run by scripts/check-console.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Errors that a schema cannot find: unknown names, conflicts between two keys, properties of the machine, values of secrets,
# bounds of texts with a unit, addresses with a port, and YAML syntax. The keys of a source depend on its kind.
BEYOND = [
    r"and there is no (region|beacon|place|destination) of this name", r"there is a \w+ named .* already", r"nor a readable file",
    r"is given more than once", r"this is not YAML", r"which the environment does not have here",
    r"which cannot be read here", r"not an address of this machine", r"gateways that post need",
    r"needs (places|the console|a \"major\"|an event of beacons)", r"the event (place|suspicious) needs", r"is for files and simulations",
    r"is for the receivers of a broker", r"are two sources", r"name the receiver in one way", r"specify the advert",
    r"there are name, receiver, moves, speed, from, mqtt", r"^f:\d+:\d+: error: the secret of ", r"write a number of bytes",
    r"but the history keeps events for", r"so that no beacon counts", r"write an address and a port", r"which is not an address; ", r"write a number from 1 to 6",
]


class CoreLoader(yaml.SafeLoader):
    """YAML 1.2's core schema, which editors use: no dates, and only true and false as booleans."""


CoreLoader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"), ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$", "-+.0123456789"),
]:
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


def faults(validator, text):
    """Returns the schema's errors for a text; None if a value does not match its YAML tag. Invalid YAML is one error."""
    try:
        document = yaml.load(text, CoreLoader)
    except yaml.YAMLError as error:
        return [str(error).splitlines()[0]]
    except ValueError:
        return None
    return [error.message for error in validator.iter_errors(document)]


def fenced(path):
    """Returns the complete configurations on a page: the YAML blocks with sources."""
    with open(path) as file:
        return [text for text in re.findall(r"```yaml\n(.*?)```", file.read(), re.S) if re.search(r"^sources:", text, re.M) and "…" not in text]


def main():
    beacond, mutants = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    schema = json.loads(subprocess.run([beacond, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = 0

    names = [os.path.join(ROOT, name) for name in ("Examples", "Packaging", "Tests/Golden/configurations", "Lab")]
    texts = {}
    for name in names:
        for path in glob.glob(f"{name}/**/*.yaml", recursive=True):
            with open(path) as file:
                text = file.read()
            if re.search(r"^sources:", text, re.M):
                texts[os.path.relpath(path, ROOT)] = text
    for path in glob.glob(f"{ROOT}/docs/*.md") + [f"{ROOT}/README.md"]:
        for number, text in enumerate(fenced(path)):
            texts[f"{os.path.relpath(path, ROOT)}, example {number + 1}"] = text
    # The example lists all other keys in comments.
    with open(os.path.join(ROOT, "Examples", "beacond.yaml")) as file:
        texts["Examples/beacond.yaml with all keys"] = re.sub(r"^(\s*)#((?:  +)?(?:[a-z-]+:|- ))", r"\1\2", file.read(), flags=re.M)
    for name, text in sorted(texts.items()):
        found = faults(validator, text)
        if found:
            failed += 1
            print(f"FAIL {name}: the schema rejects a configuration that beacond accepts: {found[0]}")
    # Otherwise the check would pass if the search found nothing.
    if len(texts) < 10:
        sys.exit(f"FAIL the examples and pages have only {len(texts)} configurations")
    if not failed:
        print(f"ok   the schema accepts {len(texts)} configurations of examples and pages")

    if mutants:
        counts = collections.Counter()
        for path in sorted(glob.glob(f"{mutants}/*.yaml")):
            with open(path) as file, open(path[:-4] + "told") as words:
                text, told = file.read(), words.read().splitlines()
            found = faults(validator, text)
            errors = [line for line in told if ": error: " in line and line.startswith("f:")]
            shaped = [line for line in errors if not any(re.search(one, line) for one in BEYOND)]
            kind = "beyond" if found is None else "shape" if shaped else "beyond" if errors else "right"
            counts[kind, bool(found)] += 1
            if (kind == "shape" and not found) or (kind == "right" and found):
                failed += 1
                print(f"FAIL {os.path.basename(path)}: " + (f"not rejected: {shaped[0]}" if shaped else f"rejected: {found[0]}"))
        if sum(counts.values()) < 200:
            sys.exit(f"FAIL {mutants} has only {sum(counts.values())} configurations with mistakes")
        if not counts["shape", True]:
            sys.exit("FAIL the schema rejects no configuration with a mistake")
        print(
            f"{'FAIL' if failed else 'ok  '} {sum(counts.values())} configurations with mistakes: the schema rejects "
            f"{counts['shape', True]} of {counts['shape', True] + counts['shape', False]} with a wrong key or value, "
            f"{counts['beyond', True]} of {counts['beyond', True] + counts['beyond', False]} with other mistakes, and "
            f"{counts['right', True]} of {counts['right', True] + counts['right', False]} that beacond accepts")
    sys.exit(1 if failed else 0)


main()

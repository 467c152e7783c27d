"""Prints the PyPI packages that Home Assistant integrations need, from their manifests.

usage: requirements.py DOMAIN...      runs in Home Assistant's Python environment
"""
import json
import pathlib
import sys

import homeassistant.components

FOLDER = pathlib.Path(homeassistant.components.__path__[0])


def manifests(domains):
    """Yields the manifests of integrations and of all their dependencies."""
    waiting, seen = list(domains), set()
    while waiting:
        domain = waiting.pop()
        path = FOLDER / domain / "manifest.json"
        if domain in seen or not path.exists():
            continue
        seen.add(domain)
        manifest = json.loads(path.read_text())
        yield manifest
        waiting += manifest.get("dependencies", []) + manifest.get("after_dependencies", [])


print("\n".join(sorted({line for manifest in manifests(sys.argv[1:]) for line in manifest.get("requirements", [])})))

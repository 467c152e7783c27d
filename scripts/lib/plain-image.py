"""Rewrites the file of an image (docker-archive) so that two builds give the same bytes.

usage: plain-image.py FILE

It removes the ids of the build's containers from the image's configuration, and the files for versions of docker before 1.10.
The layers stay as they are.
"""

import hashlib
import io
import json
import os
import sys
import tarfile

path = sys.argv[1]
with tarfile.open(path) as given, tarfile.open(path + ".new", "w", format=tarfile.USTAR_FORMAT) as plain:
    manifest = json.load(given.extractfile("manifest.json"))
    config = json.load(given.extractfile(manifest[0]["Config"]))
    for key in ("container", "container_config", "parent"):
        config.pop(key, None)
    # A container without a name of its own gets its id as its host name.
    config["config"].pop("Hostname", None)
    for step in config["history"]:
        step.pop("comment", None)
    text = json.dumps(config, sort_keys=True).encode()
    manifest[0]["Config"] = hashlib.sha256(text).hexdigest() + ".json"

    def add(name, size, content):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o644
        plain.addfile(entry, content)

    for layer in manifest[0]["Layers"]:
        member = given.getmember(layer)
        add(layer, member.size, given.extractfile(member))
    add(manifest[0]["Config"], len(text), io.BytesIO(text))
    text = json.dumps(manifest, sort_keys=True).encode()
    add("manifest.json", len(text), io.BytesIO(text))
os.replace(path + ".new", path)

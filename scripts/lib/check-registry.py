"""Checks the images in a registry: what it has, and what a machine of each processor gets. Run by scripts/check-registry."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

work, port = pathlib.Path(os.environ["WORK"]), os.environ["PORT"]
count = 0


def run(*words, check=True):
    outcome = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if check and outcome.returncode:
        sys.exit(f"{' '.join(words)}: {outcome.returncode}\n{outcome.stdout[-2000:]}{outcome.stderr[-2000:]}")
    return outcome


def expect(what, condition, detail=""):
    global count
    if not condition:
        sys.exit(f"FAIL {what}\n{detail}")
    count += 1
    print(f"ok   {what}", flush=True)


def here(name):
    """Returns the name of an image with this machine's registry in place of its own."""
    return f"127.0.0.1:{port}/" + name.split("/", 1)[1]


addresses = run("bash", "-c", '. Packaging/addresses; echo "$IMAGE"; echo "$APP_IMAGE"').stdout.split()
config = (work / "app/swift_beacon/config.yaml").read_text()
app, version = (re.search(rf"^{key}: (.*)$", config, re.M)[1] for key in ("image", "version"))
expect("the app's repository names the app's image", app == addresses[1], app)
names = {"swift-beacon": here(addresses[0]), "swift-beacon-app": here(app)}

# Lets containers run in sandboxes that do not allow raising limits, and that use version 1 of control groups.
settings = work / "containers.conf"
settings.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n')
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
IMAGE = "application/vnd.docker.distribution.manifest.v2+json"

for name, address in names.items():
    run("skopeo", "copy", "--quiet", "--all", "--dest-tls-verify=false", f"dir:{work}/index/{name}", f"docker://{address}:{version}")
    raw = json.loads(run("skopeo", "inspect", "--raw", "--tls-verify=false", f"docker://{address}:{version}").stdout)
    expect(f"{name}: the registry has a list of images in Docker's format", raw["mediaType"] == LIST, str(raw))
    expect(f"{name}: so is each image", all(entry["mediaType"] == IMAGE for entry in raw["manifests"]), str(raw))
    architectures = [entry["platform"]["architecture"] for entry in raw["manifests"]]
    expect(f"{name}: it has {' and '.join(architectures)}", architectures and set(architectures) <= {"amd64", "arm64"})
    for architecture in architectures:
        what = f"{name}, {architecture}"
        if architecture == "arm64":
            run("bash", "-c", ". scripts/lib/packages.sh; . scripts/lib/emulation.sh; enable_emulation")
        def inside(*words, options=(), check=True):
            return run("podman", "run", "--rm", "--network", "none", *options, f"{address}:{version}", *words, check=check)

        run("podman", "pull", "--quiet", "--tls-verify=false", "--arch", architecture, f"{address}:{version}")
        image = json.loads(run("podman", "image", "inspect", f"{address}:{version}").stdout)[0]
        expect(f"{what}: a machine of this processor gets its image", image["Architecture"] == architecture, image["Architecture"])
        health = (image.get("HealthCheck") or image.get("Healthcheck") or image["Config"].get("Healthcheck") or {}).get("Test")
        expect(f"{what}: it has its health check", health and health[1:] == ["beacond", "ready"], str(image))
        if inside("true", check=False).returncode:
            os.environ["CONTAINERS_CONF"] = str(settings)
        expect(f"{what}: beacond runs", inside("beacond", "--version").stdout.strip() == version)
        machine = inside("uname", "-m").stdout.strip()
        expect(f"{what}: as {machine}", machine == {"amd64": "x86_64", "arm64": "aarch64"}[architecture], machine)
        ranged = inside("beacon", "range", "--source", "simulation:museum", "--speed", "max", "--json").stdout
        expect(f"{what}: a simulation is ranged", '"immediate"' in ranged)
        if name == "swift-beacon-app":
            labels = image["Labels"] or {}
            expect(f"{what}: the labels have the version and the processor", labels.get("io.hass.version") == version
                   and labels.get("io.hass.arch") == {"arm64": "aarch64"}.get(architecture, architecture), str(labels))
            run("podman", "image", "rm", "--force", f"{address}:{version}")
            continue
        file = work / "beacond.yaml"
        file.write_text("sources: [simulation:museum?loop]\nregions: []\nweb: true\n")
        container = run(
            "podman", "run", "--detach", "--network", "none", "--read-only", "--cap-drop", "all", "--volume", f"{file}:/etc/beacond.yaml:ro",
            f"{address}:{version}").stdout.strip()
        try:
            deadline = time.monotonic() + 120
            while run("podman", "healthcheck", "run", container, check=False).returncode:
                if time.monotonic() > deadline:
                    sys.exit(f"FAIL {what}: the health check does not pass\n" + run("podman", "logs", container).stderr[-3000:])
                time.sleep(0.5)
            expect(f"{what}: the health check passes while a receiver hears", True)
        finally:
            run("podman", "rm", "--force", "--time", "2", container, check=False)
            run("podman", "image", "rm", "--force", f"{address}:{version}", check=False)
print(f"check-registry: {count} checks of {', '.join(names)} {version}")

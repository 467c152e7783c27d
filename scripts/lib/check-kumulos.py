"""Runs files of Kumulos' own SDK against beacond. Run by scripts/check-kumulos with the program that has them."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

from beacond_checks import Gateway, museum, proximity, until

USER = "mia & Zoë"


def main(program):
    folder = tempfile.mkdtemp(prefix="kumulos-")
    gateway = Gateway(folder, museum(folder).replace(
        "launch: { rules: [", "launch: { rules: [{ name: hi, events: [near], message: { title: Hello, text: \"{user}\" } }, "))

    def run(verb, *arguments, events=None):
        answer = subprocess.run(
            [program, verb, gateway.address, *arguments], input=json.dumps(events or []), text=True, capture_output=True)
        assert answer.returncode == 0, f"{verb}: {answer.stdout}{answer.stderr}"
        return answer.stdout.splitlines()

    def receipt(what, number):
        return {"type": f"k.message.{what}", "uuid": str(uuid.uuid4()), "timestamp": int(time.time() * 1000),
                "userId": USER, "data": {"type": 2, "id": number}}

    try:
        services = dict(line.split(" ") for line in run("map"))
        assert len(services) == 8, services
        with urllib.request.urlopen(services["iar"]) as page:
            assert page.status == 200 and b"in-app.js" in page.read(), "no page for messages"
        assert run("messages") == []
        near = proximity(str(uuid.uuid4()))
        near["userId"] = USER
        run("events", events=[near, {"type": "", "uuid": "x"}, {"type": "cart", "uuid": "y", "data": None, "userId": USER}])
        far = str(time.time() + 86400)
        lines = until(lambda: run("messages", far), "no message arrives")
        number, *texts = lines[0].split("|")
        assert texts == [USER, "Hello", USER], lines
        assert run("messages", far) == lines
        run("events", events=[receipt("delivered", int(number))])
        until(lambda: not run("messages", far), "a delivered message is repeated")
        assert run("messages") == lines, "a new phone of the user gets nothing"
        run("events", events=[receipt("opened", int(number)), receipt("dismissed", int(number))])
        until(lambda: not run("messages"), "a closed message is repeated")
        install = next(one for one in gateway.get("/v1/installs")["installs"] if one["user"] == USER)
        messages = gateway.get(f"/v1/installs/{install['id']}/messages")["messages"]
        assert [message["state"] for message in messages] == ["dismissed"], messages
        assert len(gateway.get("/v1/events?kind=refused")["events"]) == 1
    finally:
        gateway.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print("ok   Kumulos' own files send events, get messages and report them, and both SDKs make the same requests")


main(sys.argv[1])

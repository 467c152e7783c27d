"""Checks that generators make working clients of v1/openapi.json. Run by scripts/check-console.

openapi-python-client generates a client, and each operation runs through it against a real beacond.
datamodel-code-generator generates models, which accept each answer. Arguments and bodies are the document's examples.
"""

import base64
import enum
import hashlib
import hmac
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import typing
import uuid

from beacond_checks import BEACOND, HANG, ROOT, UUID, Gateway, museum, until

SECRET = "whsec_" + base64.b64encode(b"a secret of 24 bytes or more").decode()
TOKEN = "0123456789abcdef"
APP = {"Authorization": "Basic " + base64.b64encode(b"key:secret").decode()}
PICTURE = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
TABLE = f"name,uuid,major,minor\r\nshelf,{UUID},1,9\r\n".encode()
FLAT = {
    "plan": {
        "width": 8, "height": 4, "receivers": {"a": [1, 2], "b": [6, 2, 2]}, "beacons": {}, "doors": [[4, 2]],
        "rooms": [
            {"name": "hall", "polygon": [[0, 0], [4, 0], [4, 4], [0, 4]]},
            {"name": "bath", "polygon": [[4, 0], [8, 0], [8, 4], [4, 4]]}]}}
STREAMS = {"streamRanging", "streamEvents", "streamTeaching", "recordSightings"}


def generate(document, folder):
    """Generates a client and models. Returns both as modules."""
    path = os.path.join(folder, "openapi.json")
    with open(path, "w") as file:
        json.dump(document, file)
    tools = os.path.dirname(sys.executable)
    for command in [
        ["openapi-python-client", "generate", "--path", path, "--output-path", os.path.join(folder, "beacond_client"), "--meta", "none"],
        ["datamodel-codegen", "--input", path, "--input-file-type", "openapi", "--output", os.path.join(folder, "beacond_models.py"),
         "--output-model-type", "pydantic_v2.BaseModel"],
    ]:
        result = subprocess.run([os.path.join(tools, command[0]), *command[1:]], capture_output=True, text=True, cwd=folder)
        assert result.returncode == 0, result.stdout + result.stderr
    sys.path.insert(0, folder)
    client = importlib.import_module("beacond_client")
    for module in pkgutil.walk_packages(client.__path__, "beacond_client."):
        importlib.import_module(module.name)
    return client, importlib.import_module("beacond_models")


def typed(value, hint):
    """Returns a value of JSON as the type that a generated function takes."""
    for one in typing.get_args(hint) if "|" in str(hint) or typing.get_origin(hint) is typing.Union else [hint]:
        if typing.get_origin(one) is list and isinstance(value, list):
            return [typed(each, typing.get_args(one)[0]) for each in value]
        if hasattr(one, "from_dict") and isinstance(value, dict):
            return one.from_dict(value)
        if inspect.isclass(one) and issubclass(one, enum.Enum) and isinstance(value, str):
            return one(value)
        if getattr(one, "__name__", "") == "File" and isinstance(value, bytes):
            return one(payload=io.BytesIO(value))
    return value


class Operations:
    """The operations of a document, called through a generated client."""

    def __init__(self, document, package, models):
        self.document, self.models, self.called = document, models, set()
        self.client = importlib.import_module(package.__name__ + ".client")
        self.operations = {
            operation["operationId"]: operation for methods in document["paths"].values() for operation in methods.values()}
        found = {module.name.rsplit(".", 1)[1]: module.name
                 for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".") if ".api." in module.name}
        self.modules = {
            name: importlib.import_module(found[re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()]) for name in self.operations}

    def resolved(self, value):
        while "$ref" in value:
            found = self.document
            for part in value["$ref"][2:].split("/"):
                found = found[part]
            value = found
        return value

    def arguments(self, name, given):
        """Returns the arguments of a generated function: the given ones, and the examples of required ones."""
        operation, function = self.operations[name], self.modules[name]._get_kwargs
        values = {}
        for parameter in map(self.resolved, operation.get("parameters", [])):
            key = parameter["name"]
            if key in given or (parameter.get("required") and parameter["name"] != "X-Beacon-Console"):
                values[key] = given.get(key, parameter.get("example"))
        assert not set(given) - set(values) - {"body"}, (name, given)
        if "requestBody" in operation:
            schema = self.resolved(next(iter(operation["requestBody"]["content"].values()))["schema"])
            if schema.get("type") == "array":
                values["body"] = [self.resolved(schema["items"])["examples"][0]]
            else:
                values["body"] = schema.get("examples", [None])[0]
            values["body"] = given.get("body", values["body"])
        hints = typing.get_type_hints(function)
        own = {re.sub(r"\W", "_", key).lower(): value for key, value in values.items()}
        own = {key if key in hints else key + "_": value for key, value in own.items()}
        return {key: typed(value, hints[key]) for key, value in own.items()}

    def check(self, name, status, answer):
        assert answer.status_code == status, (name, answer.status_code, answer.text)
        described = self.operations[name]["responses"]
        assert str(status) in described, (name, status)
        content = self.resolved(described[str(status)]).get("content", {})
        schema = content.get("application/json", content.get("application/problem+json", {})).get("schema", {})
        if "$ref" in schema:
            # The second generator's model takes the answer.
            getattr(self.models, schema["$ref"].rsplit("/", 1)[1]).model_validate(answer.json())
        self.called.add(name)

    def call(self, client, name, status=200, given=None, headers=None, sign=None):
        """Runs an operation, and checks its answer. Returns the parsed answer."""
        arguments = self.arguments(name, given or {})
        if headers:
            client = client.with_headers(headers)
        http = client.get_httpx_client()
        request = http.build_request(**self.modules[name]._get_kwargs(**arguments))
        if sign:
            request.headers["webhook-signature"] = sign(request)
        answer = http.send(request, stream=name in STREAMS)
        if name in STREAMS:
            assert answer.status_code == status, (name, answer.status_code)
            assert next(answer.iter_bytes()), name
            answer.close()
            self.called.add(name)
            return None
        self.check(name, status, answer)
        parsed = self.modules[name]._parse_response(client=client, response=answer)
        if hasattr(parsed, "to_dict"):
            assert parsed.to_dict() == answer.json(), (name, parsed.to_dict(), answer.json())
        return parsed


def signature(request):
    text = b".".join([request.headers["webhook-id"].encode(), request.headers["webhook-timestamp"].encode(), request.content])
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


def check_museum(operations, folder):
    """Runs all operations of a configured beacond."""
    configuration = museum(folder).replace("intake: {", f"intake: {{ webhooks: [{{ name: branch, secret: {{ env: HOOK }} }}],")
    configuration = configuration.replace("sources: [", "sources: [{ name: gateways, http: { token: { env: GATE } } }, ")
    gateway = Gateway(folder, configuration, {"HOOK": SECRET, "GATE": TOKEN})
    try:
        client = operations.client.Client(base_url=gateway.address, timeout=HANG)

        def call(name, status=200, **options):
            return operations.call(client, name, status, **options)

        until(lambda: gateway.status("/v1/ready") == 200, "no receiver hears")
        until(lambda: gateway.get("/v1/regions")["regions"][0]["state"] == "inside", "no region is entered")
        for name in ["getStatus", "getHealth", "getReadiness", "getLiveness", "getMetrics", "getOpenApiDocument", "getConfigurationSchema",
                     "listSources", "listReceivers", "listBeacons", "listHeardBeacons", "getBackup"]:
            call(name)
        call("explainState", given={"region": "museum"})
        call("streamRanging", given={"region": [UUID]})
        call("recordSightings", given={"seconds": 1})
        beacon = {"name": "new", "uuid": UUID, "major": 9, "minor": 9, "attributes": {"floor": "2"}}
        call("importRegisteredBeacons", given={"body": TABLE, "replace": "false"})
        for noun, body in [("Region", {"name": "new", "uuid": UUID, "major": 9, "minimum-rssi": "auto"}), ("Place", {"name": "new", "receivers": ["x"]}),
                           ("RegisteredBeacon", beacon), ("Rule", None)]:
            added = call("add" + noun, 201, given={"body": body} if body else {})
            call("replace" + noun, given={"name": added.name, **({"body": body} if body else {})})
            call("list" + noun + "s")
        for noun, body in [("Source", {"name": "new", "from": "simulation:museum?loop"}),
                           ("Destination", {"name": "new", "type": "webhook", "url": "http://127.0.0.1:1/"})]:
            call("try" + noun, given={"body": body})
            call("add" + noun, 201, given={"body": body})
            call("replace" + noun, given={"name": "new", "body": body})
            call("remove" + noun, 204, given={"name": "new"})
        call("listDestinations")
        call("setSecret", given={"name": "new", "body": {"value": "open sesame"}})
        call("listSecrets")
        call("removeSecret", 204, given={"name": "new"})
        call("renameReceiver", 409, given={"name": gateway.get("/v1/receivers")["receivers"][0]["name"], "body": {"name": "hall"}})
        call("placeReceiver", given={"name": gateway.get("/v1/receivers")["receivers"][0]["name"], "body": {"place": "hall"}})
        # A beacon that is not there, so that there is nothing to keep.
        call("startTeaching", 201, given={"body": {"place": "hall", "beacon": {"uuid": UUID, "major": 9, "minor": 9}}})
        call("streamTeaching")
        call("keepTeaching", 409)
        call("endTeaching", 204)
        call("undoTeaching", 404)
        call("listTaught")
        call("forgetTaught", 404, given={"name": "hall"})
        # The file has its rules in braces.
        call("takeOverItems", 409, given={"body": {"kind": "rule", "name": "lights"}})
        call("switchRule", given={"name": "welcome"})
        call("tryRule")
        call("listRuleRuns", given={"rule": "lights", "limit": 5})
        call("exportRegisteredBeacons")
        for noun in ["Region", "Place", "RegisteredBeacon"]:
            call("remove" + noun, 204, given={"name": "new"})
        call("removeRule", 204, given={"name": "welcome"})
        now = time.time()
        call("listEvents", given={"limit": 10, "from": 0, "to": now, "kind": ["enter", "exit"], "region": "museum"})
        call("countEvents", given={"from": now - 60, "to": now + 60, "steps": 2})
        call("exportEvents", given={"format": "log"})
        # A simulation begins in 2023.
        stretch = {"from": 1.7e9, "to": 1.7e9 + 86400}
        call("replay", given=stretch | {"with": ["place-rules.margin=9"]})
        call("trace", given=stretch | {"beacon": f"{UUID}/1/1"})
        call("explainPast", given={"beacon": f"{UUID}/1/1", "at": 1.7e9 + 20})
        call("streamEvents", given={"Last-Event-ID": "0"})
        call("getAdvertising")
        call("setAdvertising", 409)
        call("getOutbox")
        call("listEntries", given={"destination": "crm", "state": "waiting"})
        call("retryDeadLetters", given={"body": {"destination": "crm"}})
        call("dropNotifications", given={"body": {"destination": "crm", "state": "all"}})
        call("addApp", 201)
        call("listApps")
        call("removeApp", 204, given={"name": "shop"})
        call("sendAppEvents", 204, headers=APP)
        until(lambda: gateway.get("/v1/installs")["installs"], "no install appears")
        call("listInstalls")
        call("getInstall")
        call("sendMessage", 201)
        call("listMessages")
        call("syncInAppMessages", given={"id": gateway.get("/v1/installs")["installs"][0]["id"]}, headers=APP)
        taken = call("takeMessages", given={"wait": 1}, headers=APP)
        call("acknowledgeMessages", 204, given={"body": {"ids": [message.id for message in taken.messages]}}, headers=APP)
        call("forgetInstall", 204)
        call("sendCloudEvents", 204, given={"webhook-id": str(uuid.uuid4()), "webhook-timestamp": str(int(now))}, sign=signature)
        call("postAdverts", given={"body": {"gmac": "AC233FC00001", "obj": []}}, headers={"Authorization": f"Bearer {TOKEN}"})
        call("setPlan")
        call("setPlanPicture", given={"body": PICTURE})
        call("getPlan")
        call("forecastPlan", given={"body": FLAT})
        call("getPlanPicture")
        call("removePlanPicture")
        call("openSession", 204)
        call("closeSession", 204)
    finally:
        gateway.kill()


def check_fleet(operations, folder):
    gateway = Gateway(folder, museum(folder) + "fleet: local\n")
    try:
        operations.call(operations.client.Client(base_url=gateway.address, timeout=HANG), "getFleet")
    finally:
        gateway.kill()


def check_setup(operations, folder):
    """Runs the operations of the guided start, with a session."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = os.path.join(folder, "log")
    environment = dict(os.environ, XDG_STATE_HOME=folder, XDG_RUNTIME_DIR=folder, STATE_DIRECTORY=folder)
    with open(log, "w") as output:
        process = subprocess.Popen(
            [BEACOND, "setup", "--config", os.path.join(folder, "beacond.yaml"), "--listen", f"127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
    try:
        code = until(lambda: re.search(r"#code=(\S+)", open(log).read()), "beacond setup prints no link")[1]
        client = operations.client.Client(base_url=f"http://127.0.0.1:{port}", timeout=HANG)

        def call(name, status=200, **options):
            def answered():
                try:
                    operations.call(client, name, status, **options)
                    return True
                except OSError:
                    return False
                except Exception as error:
                    if type(error).__module__.startswith(("httpx", "httpcore")):
                        return False
                    raise
            until(answered, f"{name} is not answered")

        call("openSession", 204, given={"body": {"code": code}})
        call("getSetup")
        call("draftConfiguration")
        call("tryBroker", given={"body": {"host": "127.0.0.1", "port": 1}})
        call("searchReceivers")
        call("scanWithoutPauses", 422, given={"body": {"broker": {"host": "127.0.0.1", "port": 0}, "gateways": ["home/a"]}})
        call("setSetupSource", 202)
        # beacond opens the other source.
        time.sleep(1)
        call("writeConfiguration", 201)
    finally:
        process.kill()
        process.wait()


def main():
    folder = tempfile.mkdtemp(prefix="clients-")
    try:
        with open(os.path.join(ROOT, "Sources/CConsole/Files/openapi.json")) as file:
            document = json.load(file)
        operations = Operations(document, *generate(document, folder))
        for check in [check_museum, check_fleet, check_setup]:
            own = os.path.join(folder, check.__name__)
            os.mkdir(own, 0o700)
            check(operations, own)
        missing = set(operations.operations) - operations.called
        assert not missing, f"these operations did not run: {missing}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"ok   {len(operations.called)} operations through a client of openapi-python-client, with models of datamodel-code-generator")


main()

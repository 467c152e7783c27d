"""The programs around Home Assistant: the broker, beacond and `beacon advertise`."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

# A limit in seconds that only a hang reaches.
HANG = int(os.environ.get("CHECK_HANG", "60"))
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
BROKER_PORT = 1883
PASSWORD = "b3ac:on d"
PROGRAMS = pathlib.Path(os.environ["PROGRAMS"])
FOLDER = pathlib.Path(os.environ["FOLDER"])

running = []


class Timeout(Exception):
    """A condition did not become true in time."""


def until(condition, what, limit=None):
    """Waits until `condition` returns a true value, and returns it."""
    end = time.monotonic() + (limit or HANG)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Timeout(what)
        time.sleep(0.1)


def comes(condition, limit=None):
    """Returns true if `condition` becomes true in time."""
    try:
        return bool(until(condition, "", limit))
    except Timeout:
        return False


class Program:
    """A program with its output in a file."""

    def __init__(self, name, *command, environment=None, folder=FOLDER):
        self.name, self.log_path = name, FOLDER / f"{name}.log"
        # A restarted program appends to the log.
        self.begin = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                env=environment, start_new_session=True)
        running.append(self)

    def log(self):
        """Returns the output since the last start."""
        with open(self.log_path, "rb") as log:
            log.seek(self.begin)
            return log.read().decode(errors="replace")

    def says(self, pattern, limit=None):
        def found():
            if self.process.poll() is not None and not re.search(pattern, self.log()):
                raise Timeout(f"{self.name} has ended:\n{self.log()[-2000:]}")
            return re.search(pattern, self.log())
        return until(found, f"{self.name} does not print {pattern}:\n{self.log()[-2000:]}", limit)

    def send(self, number):
        self.process.send_signal(number)

    def end(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
            try:
                self.process.wait(2 * HANG)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        if self in running:
            running.remove(self)


def end_all():
    for program in reversed(list(running)):
        try:
            program.send(signal.SIGCONT)
        except ProcessLookupError:
            pass
        program.end()


def environment(name):
    """Returns the environment of beacon and beacond, with a separate folder for their files."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True, mode=0o700)
    return {
        "PATH": f"{PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": str(folder),
        "XDG_STATE_HOME": str(folder), "XDG_RUNTIME_DIR": str(FOLDER), "MQTT_PASSWORD": PASSWORD}


class Broker:
    """mosquitto with users. Retained messages survive a restart."""

    USERS = {"ha": "hapass", "beacond": PASSWORD}

    def __init__(self):
        passwords, settings = FOLDER / "passwords", FOLDER / "mosquitto.conf"
        passwords.touch(mode=0o600)
        for user, password in self.USERS.items():
            subprocess.run(["mosquitto_passwd", "-b", passwords, user, password], check=True)
        settings.write_text(
            f"listener {BROKER_PORT} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\npersistence true\n"
            f"persistence_location {FOLDER}/\nuser root\n")
        self.settings = settings
        self.start()

    def start(self):
        self.program = Program("mosquitto", "mosquitto", "-c", self.settings)
        self.program.says("running")

    def end(self):
        self.program.end()

    def client(self, name, *words):
        return [f"mosquitto_{name}", "-p", str(BROKER_PORT), "-u", "beacond", "-P", PASSWORD, *words]

    def publish(self, topic, payload, retain=False):
        subprocess.run(self.client("pub", "-q", "1", "-t", topic, "-m", payload, *["-r"] * retain), check=True)

    def retained(self, topic):
        """Returns the retained messages of a topic filter, by topic."""
        words = self.client("sub", "-t", topic, "-W", "1", "-F", "%r %t %p")
        lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
        found = [line.split(" ", 2)[1:] for line in lines if line.startswith("1 ")]
        return {topic: payload for topic, payload in found}

    def clear(self):
        """Removes all retained messages, first the announcements, so that Home Assistant removes its devices."""
        for topic in ("homeassistant/#", "#"):
            words = self.client("sub", "-t", topic, "-W", "1", "--retained-only", "--remove-retained")
            subprocess.run(words, capture_output=True)


class Gateway:
    """A beacond with a configuration."""

    def __init__(self, name, configuration, wrapper=()):
        self.name, self.wrapper = name, wrapper
        self.environment = environment(name)
        self.path = FOLDER / name / "beacond.yaml"
        self.write(configuration)
        self.start()

    def write(self, configuration):
        if configuration is not None:
            self.path.write_text(configuration)

    def start(self):
        self.program = Program(
            self.name, *self.wrapper, PROGRAMS / "beacond", "--config", self.path, environment=self.environment)

    def reload(self, configuration=None):
        self.write(configuration)
        self.program.send(signal.SIGHUP)

    def end(self, by=signal.SIGTERM):
        self.program.end(by)

    def kill(self):
        self.program.end(signal.SIGKILL)

    def remove(self):
        self.end()
        shutil.rmtree(FOLDER / self.name, ignore_errors=True)


def setup(name, *words):
    """Runs `beacond setup` without a terminal. Returns its status, its output and the configuration file."""
    path = FOLDER / name / "beacond.yaml"
    variables = environment(name)
    done = subprocess.run(
        [PROGRAMS / "beacond", "setup", "--config", path, "--home-assistant", "127.0.0.1", "--user", "beacond", *words],
        env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)
    return done.returncode, done.stdout + done.stderr, path.read_text() if path.exists() else ""


class Beacon:
    """A beacon in the simulated air that comes and leaves (`beacon advertise`)."""

    def __init__(self, major, minor, distance=0.2):
        self.major, self.minor, self.distance, self.program = major, minor, distance, None

    def comes(self, distance=None):
        self.leaves()
        self.distance = distance or self.distance
        self.program = Program(
            f"advertise-{self.major}-{self.minor}", PROGRAMS / "beacon", "advertise", *self.words(), "--source",
            f"air@{self.distance},0", environment=environment("air"))

    def words(self):
        return "--uuid", UUID, "--major", self.major, "--minor", self.minor

    def leaves(self, by=signal.SIGTERM):
        if self.program:
            self.program.end(by)
        self.program = None

    def send(self, number):
        if self.program:
            self.program.send(number)


class Phone(Beacon):
    """A phone with a key, which changes its address every 3 s."""

    def __init__(self, key):
        super().__init__("phone", "ann")
        self.tags = FOLDER / "phones"
        self.tags.write_text(f"phone: {key}\n")

    def words(self):
        return "--tags", self.tags, "--rotate-address", "3s"

"""Checks of `beacond setup` in a browser, as a person without a configuration uses it. check-console.py runs them."""

import base64
import contextlib
import getpass
import json
import os
import re
import socket
import subprocess
import threading

from beacond_checks import BEACOND, HANG, UUID, Browser, until


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class GuidedSetup:
    """`beacond setup` without a configuration, in a folder of its own, and a browser that has not opened its link."""

    def __init__(self, folder, name, host="127.0.0.1", pictures=None):
        self.name, self.pictures = name, pictures
        self.folder = os.path.join(folder, name)
        runtime = os.path.join(self.folder, "runtime")
        os.makedirs(runtime, 0o700)
        self.path, self.log, self.port = os.path.join(self.folder, "beacond.yaml"), os.path.join(self.folder, "log"), free_port()
        self.environment = dict(
            os.environ, XDG_STATE_HOME=self.folder, XDG_RUNTIME_DIR=runtime, STATE_DIRECTORY=self.folder, TZ="UTC")
        self.host, self.process, self.browser = host, None, None

    def __enter__(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [BEACOND, "setup", "--config", self.path, "--listen", f"{self.host}:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        self.browser = Browser()
        self.driver, self.sees = self.browser.driver, self.browser.sees
        return self

    def __exit__(self, *_):
        self.browser.driver.quit()
        self.process.kill()
        self.process.wait()

    def open(self):
        """Opens the link of the log at the loopback address, which exists on every machine."""
        def link():
            with open(self.log) as log:
                return re.search(r"(http://\S+#code=\S+)", log.read())

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        link = until(link, "beacond prints no link")[1]
        until(listens, "the console does not listen")
        self.driver.get(re.sub(r"//[^/]*/", f"//127.0.0.1:{self.port}/", link))
        self.sees("What should listen")
        assert "code" not in self.driver.current_url, self.driver.current_url

    def one(self, tag, is_meant, what):
        """Returns the first shown element of a tag that is meant."""
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.common.by import By

        def found():
            try:
                return [node for node in self.driver.find_elements(By.TAG_NAME, tag) if node.is_displayed() and is_meant(node)]
            except StaleElementReferenceException:
                # The page was redrawn, as it is when a draft arrives. Looks again.
                return None
        return until(found, f"{what}:\n{self.browser.text()}")[0]

    def button(self, text):
        return self.one("button", lambda node: node.text.strip() == text and node.is_enabled(), f"no button \"{text}\"")

    def field(self, label):
        from selenium.webdriver.common.by import By
        name = self.one("label", lambda node: node.text.startswith(label), f"no field {label}")
        return self.driver.find_element(By.ID, name.get_attribute("for"))

    def find(self, selector):
        from selenium.webdriver.common.by import By
        return until(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector), f"no {selector}:\n{self.browser.text()}")

    def picture(self, name):
        """Takes pictures of a step, wide and narrow, and checks that it is accessible and fits."""
        from axe_selenium_python import Axe
        for width in [390, 1280]:
            self.driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            if self.pictures:
                self.driver.save_screenshot(os.path.join(self.pictures, f"{self.name}-{name}-{width}.png"))
            wide = self.driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide at {width}"
            axe = Axe(self.driver)
            axe.inject()
            violations = axe.run()["violations"]
            assert not violations, f"the guided setup, {name}: {axe.report(violations)}"

    def write(self):
        """Writes the configuration, and waits for the pages of the gateway that runs with it."""
        self.button("Write the configuration").click()
        until(lambda: self.driver.title.startswith("Now"), "the pages do not open")

    def check(self, *secrets):
        """Checks the written file, that neither it nor the log has a secret, and that the browser reported no error.

        Returns the text of the file, and the lines of `beacond check` about it."""
        checked = subprocess.run([BEACOND, "check", self.path], capture_output=True, text=True, env=self.environment)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        texts = []
        for name in [self.path, self.log]:
            with open(name) as file:
                texts.append(file.read())
            assert not any(secret in texts[-1] for secret in secrets), f"{name} has a secret"
        assert not self.browser.errors(), self.browser.errors()
        return texts[0], checked.stdout.splitlines()


@contextlib.contextmanager
def running(command, **options):
    """A program that ends with the check."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def check_setup(folder, pictures, host):
    """Checks that the link of `beacond setup` leads through its steps to a file, and to the pages. This browser needs no token,
    even if beacond listens for other machines."""
    from selenium.webdriver.common.keys import Keys
    with GuidedSetup(folder, f"setup-{host}", host, pictures) as setup:
        def focus():
            return setup.driver.switch_to.active_element

        setup.open()
        setup.picture("1")
        setup.find("input[value='simulation']")[0].click()
        setup.sees("simulated museum")
        setup.find("input[value^='simulation:museum']")[0].click()
        setup.button("Continue").click()
        # beacond opens another source, and does not answer for a short time.
        setup.sees("Which beacons are yours")
        name = setup.find(".name-form input")[0]
        setup.picture("2")
        name.send_keys("Till 1", Keys.ENTER)
        setup.sees("Till 1")
        # One more Enter does nothing, and the region has another name than the beacon.
        focus().send_keys(Keys.ENTER)
        setup.sees("Till 1")
        assert focus().tag_name == "li", "the focus is on a button"
        assert "None yet" not in setup.browser.text(), setup.browser.text()
        assert setup.find("[data-key='regions.0.name'] input")[0].get_attribute("value") == "Till 1 nearby"
        setup.button("Continue").click()

        # First Home Assistant, whose password must not appear in the file, and then another choice.
        setup.find("input[value='broker']")[0].click()
        setup.button("Continue").click()
        setup.sees("Write the broker's name")
        setup.field("Broker").send_keys("localhost:1883")
        setup.field("User").send_keys("beacond")
        setup.field("Password").send_keys("secret word")
        setup.button("Continue").click()
        setup.sees("[Ww]rite the broker's name or address alone")
        setup.field("Broker").send_keys(Keys.END, *[Keys.BACKSPACE] * len(":1883"))
        # No program listens at this port.
        setup.field("Port").send_keys("1")
        setup.button("Continue").click()
        setup.sees("Connection refused")
        setup.picture("3-broker")
        setup.button("Try again").click()
        setup.sees("Connection refused")
        # It may come later.
        setup.button("Continue anyway").click()
        setup.sees("Is this right")
        setup.sees("MQTT_PASSWORD")
        setup.sees("home-assistant: true")
        setup.button("Write the configuration")
        assert "secret word" not in setup.browser.text()
        setup.picture("4-broker")
        setup.button("Back").click()
        setup.find("input[value='rule']")[0].click()
        setup.button("Continue").click()
        until(lambda: focus().tag_name == "textarea", f"no field for the program:\n{setup.browser.text()}")
        setup.picture("3")
        focus().send_keys("/bin/true")
        setup.button("Continue").click()
        setup.sees("Is this right")
        setup.sees("simulation:museum", "the file")
        setup.picture("4")
        setup.write()
        setup.sees("Till 1")
        text, lines = setup.check("secret word")
        # Only the warning about other machines that could read the token is expected.
        assert all("in web, the token" in line for line in lines), lines
        assert "Till 1" in text and "/bin/true" in text and "simulation:museum" in text, text
        assert ("token-hash" in text) == (host != "127.0.0.1"), text
        again = subprocess.run(
            [BEACOND, "setup", "--config", setup.path], capture_output=True, text=True, env=setup.environment)
        assert again.returncode == 2 and "exists. Edit it" in again.stderr, again
        setup.process.terminate()
        assert setup.process.wait(HANG) == 0
    print(f"ok   the guided setup on {host}: its link leads in four steps to a configuration that beacond runs with")


class SendingReceivers:
    """A thread that publishes what two kinds of receivers hear of one beacon, from its start until the end of the block."""

    def __init__(self, port, user, password):
        self.options = ["-h", "127.0.0.1", "-p", str(port), "-u", user, "-P", password]
        self.stopped, self.thread = threading.Event(), threading.Thread(target=self.send)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopped.set()
        if self.thread.is_alive():
            self.thread.join()

    def send(self):
        bare = UUID.replace("-", "").lower()
        number = 0
        while not self.stopped.wait(0.2):
            number += 1
            for topic, message in [
                ("home/OMG_kitchen/BTtoMQTT/C00000000001", {
                    "id": "C0:00:00:00:00:01", "rssi": -45 - number % 3, "mfid": "4c00",
                    "manufacturerdata": f"4c000215{bare}00010002c5"}),
                (f"espresense/devices/iBeacon:{UUID.lower()}-1-2/livingroom", {
                    "id": f"iBeacon:{UUID.lower()}-1-2", "rssi": -75 - number % 3, "distance": 4.0}),
            ]:
                subprocess.run(
                    ["mosquitto_pub", *self.options, "-t", topic, "-m", json.dumps(message)], check=False,
                    stderr=subprocess.DEVNULL)


def check_receivers(folder, pictures):
    """Checks the guided setup of someone who owns receivers at a broker: the browser finds them, names them and their rooms,
    and names a beacon. Then beacond runs with the file, which has no password, and shows the room."""
    from selenium.webdriver.common.keys import Keys
    secret, port = "open sesame", free_port()
    with contextlib.ExitStack() as stack:
        setup = stack.enter_context(GuidedSetup(folder, "receivers", pictures=pictures))
        passwords, settings = os.path.join(setup.folder, "passwords"), os.path.join(setup.folder, "mosquitto.conf")
        subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, "house", secret], check=True)
        os.chmod(passwords, 0o644)
        with open(settings, "w") as file:
            file.write(f"listener {port} 127.0.0.1\npassword_file {passwords}\nallow_anonymous false\n"
                       f"user {getpass.getuser()}\n")
        stack.enter_context(running(["mosquitto", "-c", settings]))
        receivers = stack.enter_context(SendingReceivers(port, "house", secret))
        setup.open()
        setup.find("input[value='broker']")[0].send_keys(Keys.SPACE)
        setup.picture("1")
        setup.button("Continue").click()
        setup.sees("Which receivers are yours")
        setup.field("Address").send_keys("127.0.0.1")
        setup.field("Port").send_keys("1")
        setup.button("Connect").click()
        setup.sees("Nothing answers at 127.0.0.1:1")
        setup.field("Port").send_keys(Keys.BACKSPACE, str(port))
        setup.field("User").send_keys("house")
        setup.field("Password").send_keys("wrong", Keys.ENTER)
        setup.sees("The broker refuses the user or the password")
        receivers.thread.start()
        setup.field("Password").send_keys(*[Keys.BACKSPACE] * len("wrong"), secret, Keys.ENTER)
        setup.sees("OMG_kitchen.*OpenMQTTGateway.*hears 1 beacon")
        setup.sees("livingroom.*ESPresense")
        setup.sees("ESPresense smooths its levels")
        rooms = {node.get_attribute("aria-label"): node.get_attribute("value") for node in setup.find(".receiver-found input")}
        assert rooms["Room of OMG_kitchen"] == "Kitchen" and rooms["Room of livingroom"] == "Living room", rooms
        name = setup.find("input[aria-label='Name of OMG_kitchen']")[0]
        name.send_keys(Keys.CONTROL, "a")
        name.send_keys("stove")
        setup.picture("2")
        setup.button("Continue").click()
        setup.sees("Which beacons are yours")
        form = setup.find(".name-form input")
        setup.sees("stove −4.*livingroom −7")
        form[0].send_keys("Ann's keys", Keys.ENTER)
        setup.find(".named li")
        setup.picture("3")
        setup.button("Continue").click()
        setup.find("input[value='broker']")[0].click()
        assert setup.field("Use the same broker").is_selected()
        setup.picture("4")
        setup.button("Continue").click()
        setup.sees("Is this right")
        setup.sees("home-assistant: true")
        assert secret not in setup.driver.page_source
        setup.picture("5")
        setup.write()
        setup.sees("Ann's keys")
        setup.sees("Kitchen")
        setup.check(secret)
        setup.process.terminate()
        assert setup.process.wait(HANG) == 0
    print("ok   the guided setup finds receivers at a broker, and beacond shows the rooms with the file that it writes")


def check_proxies(folder, pictures):
    """Checks the guided setup of someone who owns a Bluetooth proxy: it asks for the key, and writes it only to the file of
    secrets."""
    from selenium.webdriver.common.keys import Keys
    key, wrong = (base64.b64encode(each).decode() for each in [bytes(range(32)), bytes(32)])
    port = free_port()
    with GuidedSetup(folder, "proxies", pictures=pictures) as setup, running(
            [os.path.join(os.path.dirname(BEACOND), "beacon"), "proxy", "--name", "hall", "--port", str(port), "--no-announce",
             "--source", "simulation:museum?loop"], env=dict(setup.environment, BEACON_PROXY_KEY=key)):
        setup.open()
        setup.find("input[value='esphome']")[0].click()
        setup.button("Continue").click()
        setup.find("[data-key='esphome.hosts'] input")[0].send_keys(f"127.0.0.1:{port}", Keys.ENTER)
        field = setup.find(".proxy input[type=password]")[0]
        field.send_keys(wrong, Keys.ENTER)
        setup.sees("The key is wrong")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(key, Keys.ENTER)
        setup.sees("hall.*hears [1-9][0-9]* beacon")
        setup.picture("1")
        setup.button("Continue").click()
        setup.sees("Which beacons are yours")
        setup.sees("hall −")
        setup.button("Continue without a name").click()
        setup.button("Continue").click()
        setup.sees("env: ESPHOME_KEY.*name: Hall")
        assert key not in setup.driver.page_source
        setup.write()
        setup.check(key)
    print("ok   the guided setup takes a proxy with its key, which only the file of secrets has")

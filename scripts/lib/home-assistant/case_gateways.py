"""Two gateways on machines with the same name, like two new Raspberry Pis."""

from house import BIKE, CELLAR, FRONT_ROOM, case, configuration, keys
from programs import FOLDER


def machine(name, digit):
    """Returns a prefix for a command that runs it with another machine id and the same host name."""
    path = FOLDER / f"machine-id-{name}"
    path.write_text(digit * 32 + "\n")
    return ["unshare", "--mount", "sh", "-c", f'mount --bind {path} /etc/machine-id && exec "$@"', "sh"]


@case("two gateways", quick=True)
def check_two(house):
    """Two machines with the same host name and default settings do not disconnect each other."""
    ha = house.home_assistant
    first = house.gateway(configuration([FRONT_ROOM], [keys()]), "upstairs", machine("a", "a"))
    house.comes(lambda: "front room" in ha.devices(), "the first gateway's region is a device")
    second = house.gateway(configuration([CELLAR], [BIKE]), "downstairs", machine("b", "b"))
    house.comes(lambda: {"cellar", "front room"} <= set(ha.devices()), "both gateways' regions are devices", lambda: list(ha.devices()))
    mark = ha.mark()
    house.keys().comes()
    house.beacon(17, 2).comes()
    house.comes(
        lambda: ha.state("binary_sensor.front_room") == "on" and ha.state("binary_sensor.cellar") == "on",
        "each publishes its region",
        lambda: [ha.state("binary_sensor.front_room"), ha.state("binary_sensor.cellar")], limit=20)
    house.settle()
    lost = [change for change in ha.since(mark) if change.new == "unavailable"]
    house.check(not lost, "nothing becomes unavailable", lost[:4])
    said = [
        line for gateway in (first, second) for line in gateway.program.log().splitlines()
        if "lost" in line or "taken over" in line]
    house.check(not said, "neither loses its connection", said[:2])

    first.end()
    house.comes(
        lambda: ha.state("binary_sensor.front_room") == "unavailable", "a gateway that ends becomes unavailable",
        lambda: ha.state("binary_sensor.front_room"), limit=20)
    house.check(ha.state("binary_sensor.cellar") == "on", "the other one does not", ha.state("binary_sensor.cellar"))
    house.check("front room" in ha.devices(), "its devices stay", list(ha.devices()))

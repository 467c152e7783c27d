"""The automations of docs/mqtt.md, pasted as a user does."""

import pathlib
import re

from case_persons import make_person
from house import ANNS_HOUSE, FRONT_ROOM, case, configuration, keys

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/mqtt.md"
ENTITY = re.compile(r"entity_id: \[?([a-z_]+\.[a-z0-9_]+)")


def automations():
    """Returns the page's automations, by name."""
    blocks = re.findall(r"^```yaml\n(alias: .*?)^```", PAGE.read_text(), re.S | re.M)
    return {re.match(r"alias: (.*)", block)[1]: block for block in blocks}


@case("documents", quick=True)
def check_documents(house):
    """Each automation of docs/mqtt.md runs once per movement, and not for restarts."""
    ha, blocks = house.home_assistant, automations()
    house.check(len(blocks) == 4, "docs/mqtt.md has four automations", list(blocks))
    enter, near, home, nobody = blocks
    gateway = house.gateway(configuration([FRONT_ROOM, ANNS_HOUSE], [keys(", tracker: true")]))
    # At first far away, so that it can come near later.
    carried = house.keys(distance=8)
    house.comes(lambda: {"front room", "Ann's keys"} <= set(ha.devices()), "region and beacon are devices")
    trackers = ha.entities("Ann's keys", "device_tracker.")
    if house.check(trackers, "the beacon has a tracker"):
        make_person(house, trackers[0])
        house.comes(lambda: ha.state("person.ann") == "not_home", "Ann is not home", lambda: ha.state("person.ann"), 15)
    for index, text in enumerate(blocks.values()):
        ha.document(str(index), text)
    ha.load()
    named = sorted(set(ENTITY.findall("\n".join(blocks.values()))))
    missing = [entity for entity in named if ha.state(entity) is None]
    house.check(not missing, "each entity on the page exists", missing)
    house.settle()

    def runs(mark, wanted, sentence, limit=20):
        house.comes(
            lambda: set(wanted) <= set(house.fired(mark)), sentence, lambda: house.fired(mark), limit)
        house.settle()
        fired = house.fired(mark)
        house.check(sorted(fired) == sorted(wanted), f"{sentence}, once, and no other automation does", fired)

    mark = ha.mark()
    carried.comes()
    runs(mark, [enter, home], f'"{enter}" and "{home}" run when the beacon comes')
    mark = ha.mark()
    carried.comes(distance=0.2)
    runs(mark, [near], f'"{near}" runs when it comes near')

    mark = ha.mark()
    restarts = {
        "beacond": lambda: (gateway.kill(), gateway.start()), "Home Assistant": lambda: (ha.end(), ha.start()),
        "the broker": lambda: (house.broker.end(), house.broker.start())}
    for name, restart in restarts.items():
        restart()
        house.comes(
            lambda: ha.state("binary_sensor.front_room") == "on"
            and ha.state("sensor.ann_s_keys_proximity") in ("immediate", "near"), f"after a restart of {name}, all states are as before",
            lambda: [ha.state("binary_sensor.front_room"), ha.state("sensor.ann_s_keys_proximity")], limit=90)
    house.settle()
    house.check(not house.fired(mark), "none runs for a restart", house.fired(mark))

    mark = ha.mark()
    gateway.kill()
    carried.leaves()
    gateway.start()
    runs(mark, [nobody], f'"{nobody}" runs when Ann left without a gateway', 45)

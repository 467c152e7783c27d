"""A beacon as a person's tracker: home, not home and unknown, over restarts."""

from house import ANNS_HOUSE, case, configuration, keys


def make_person(house, tracker):
    """Adds the person Ann with a tracker, as a user does in Home Assistant's settings."""
    ha = house.home_assistant
    for person in ha.call("person/list")["storage"]:
        if person["name"] == "Ann":
            ha.call("person/delete", person_id=person["id"])
    ha.call("person/create", name="Ann", user_id=None, device_trackers=[tracker])
    house.comes(lambda: ha.state("person.ann") is not None, "Ann is a person")


@case("person", quick=True)
def check_person(house):
    """A person with a beacon as tracker comes, leaves, and is unknown while the gateway does not run."""
    ha = house.home_assistant
    gateway = house.gateway(configuration([ANNS_HOUSE], [keys(", tracker: true")]))
    found = house.comes(
        lambda: ha.entities("Ann's keys", "device_tracker."), "the beacon has a tracker",
        lambda: ha.entities("Ann's keys"))
    if not found:
        return
    tracker = found[0]
    make_person(house, tracker)

    def becomes(state, sentence, limit=None):
        house.comes(
            lambda: ha.state("person.ann") == state, sentence, lambda: (ha.state("person.ann"), ha.state(tracker)), limit)

    becomes("not_home", "Ann, whose beacon has not sent yet, is not home")
    house.check(ha.attribute(tracker, "source_type") == "bluetooth_le", "the tracker's source is Bluetooth LE")
    carried = house.keys()
    carried.comes()
    becomes("home", "Ann comes home")
    house.settle()

    mark = ha.mark()
    gateway.kill()
    becomes("unknown", "Ann is unknown without the gateway")
    gateway.start()
    becomes("home", "she is home when the gateway runs again")
    ha.end()
    ha.start()
    becomes("home", "and after a restart of Home Assistant", 60)
    house.broker.end()
    becomes("unknown", "Ann is unknown without the broker")
    house.broker.start()
    becomes("home", "she is home when the broker runs again", 90)
    house.settle()
    wrong = [change for change in ha.since(mark, "person.ann") if change.new == "not_home"]
    house.check(not wrong, "Ann was never shown as away during this", wrong)

    gateway.kill()
    becomes("unknown", "Ann is unknown without the gateway")
    carried.leaves()
    mark = ha.mark()
    gateway.start()
    becomes("not_home", "Ann, who left without the gateway, is not home")
    house.settle()
    # Until her time-out she may have her last known state, which does not count as coming home.
    wrong = [
        change for change in ha.since(mark, "person.ann") if change.old == "not_home" and change.new == "home"]
    house.check(not wrong, "she was never shown as coming home during this", wrong)

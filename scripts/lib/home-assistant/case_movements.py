"""Automations for movements: enter and exit, presence, proximity and places."""

from house import ANNS_HOUSE, BAG, CELLAR, FRONT_ROOM, case, configuration, keys

AUTOMATIONS = {
    "enters": {"trigger": "state", "entity_id": "binary_sensor.front_room", "from": "off", "to": "on"},
    "exits": {"trigger": "state", "entity_id": "binary_sensor.front_room", "from": "on", "to": "off"},
    "detected": {"trigger": "occupancy.detected", "target": {"entity_id": ["binary_sensor.front_room"]}},
    "cleared": {"trigger": "occupancy.cleared", "target": {"entity_id": ["binary_sensor.front_room"]}},
    "present": {"trigger": "state", "entity_id": "binary_sensor.ann_s_keys", "from": "off", "to": "on"},
    "absent": {"trigger": "state", "entity_id": "binary_sensor.ann_s_keys", "from": "on", "to": "off"},
    "near": {"trigger": "state", "entity_id": "sensor.ann_s_keys_proximity", "from": "far", "to": ["near", "immediate"]},
    "in the hall": {"trigger": "state", "entity_id": "sensor.ann_s_keys_place", "to": "hall"},
    "away": {"trigger": "state", "entity_id": "sensor.ann_s_keys_place", "to": "away"},
    "enter message": {"trigger": "mqtt", "topic": "beacond/+/event/front%20room/enter"},
    "exit message": {"trigger": "mqtt", "topic": "beacond/+/event/front%20room/exit"},
}


@case("movements", quick=True)
def check_movements(house):
    """Each automation runs once per movement, also for the first enter."""
    ha = house.home_assistant
    house.gateway(configuration(
        [FRONT_ROOM, ANNS_HOUSE, CELLAR], [keys(), BAG],
        more="places: [{ name: hall, receivers: [air] }]\nplace-rules: { exit-timeout: 5s }\n"))
    house.comes(
        lambda: ha.state("binary_sensor.cellar") == "off" and ha.state("binary_sensor.front_room") == "off",
        "a region without any beacon is empty after its time-out",
        lambda: [ha.state("binary_sensor.cellar"), ha.state("binary_sensor.front_room")], limit=15)
    ha.automate(AUTOMATIONS)
    carried = house.keys()

    mark = ha.mark()
    carried.comes(distance=8)
    wanted = ["detected", "enter message", "enters", "in the hall", "present"]
    house.comes(
        lambda: set(wanted) <= set(house.fired(mark)), "the first enter runs all automations for it",
        lambda: sorted(set(wanted) - set(house.fired(mark))), limit=20)
    house.comes(lambda: ha.state("sensor.ann_s_keys_proximity") == "far", "8 m are far")

    near = ha.mark()
    carried.comes(distance=0.2)
    house.comes(lambda: "near" in house.fired(near), "coming near runs its automation", lambda: house.fired(near), limit=30)

    exit = ha.mark()
    carried.leaves()
    wanted = ["absent", "away", "cleared", "exit message", "exits"]
    house.comes(
        lambda: set(wanted) <= set(house.fired(exit)), "an exit runs all automations for it",
        lambda: sorted(set(wanted) - set(house.fired(exit))), limit=45)

    again = ha.mark()
    carried.comes(distance=8)
    wanted = ["detected", "enter message", "enters", "in the hall", "present"]
    house.comes(
        lambda: set(wanted) <= set(house.fired(again)), "the second enter runs them all again",
        lambda: sorted(set(wanted) - set(house.fired(again))), limit=20)
    house.settle()
    doubled = sorted(name for name in set(house.fired(again)) if house.fired(again).count(name) > 1)
    house.check(not doubled, "each runs once", doubled)

    # No region gives it a shorter time-out than the default, 30 s.
    house.comes(
        lambda: ha.state("binary_sensor.bag") == "off", "a beacon without any advert is absent after its time-out",
        lambda: ha.state("binary_sensor.bag"), limit=45)


@case("event entities")
def check_event_entities(house):
    """A region has an event entity for enter and exit, so that no automation needs a topic."""
    ha = house.home_assistant
    house.gateway(configuration([FRONT_ROOM], [keys()]))
    house.comes(lambda: "front room" in ha.devices(), "the region is a device")
    found = house.comes(
        lambda: ha.entities("front room", "event."), "the region has an event entity",
        lambda: ha.entities("front room"), limit=10)
    if not found:
        return
    house.check({"enter", "exit"} <= set(ha.attribute(found[0], "event_types") or []), "its types are enter and exit")
    ha.automate({kind: event_trigger(found[0], kind) for kind in ("enter", "exit")})
    carried, mark = house.keys(), ha.mark()
    carried.comes()
    house.comes(lambda: house.fired(mark) == ["enter"], "an enter is an event", lambda: house.fired(mark), limit=20)
    carried.leaves()
    house.comes(
        lambda: house.fired(mark) == ["enter", "exit"], "so is an exit", lambda: house.fired(mark), limit=30)


def event_trigger(entity, kind):
    return {"trigger": "event.received", "target": {"entity_id": [entity]}, "options": {"event_type": [kind]}}

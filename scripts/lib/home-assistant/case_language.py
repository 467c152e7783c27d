"""The entities' names in German, with the ids of before."""

from house import FRONT_ROOM, beacon, case, configuration
from home_assistant import CONFIG

PLACES = "places: [{ name: Diele, receivers: [air] }]\n"
# The names of entities, by the ends of their ids. Home Assistant itself has those of device classes.
GERMAN = {
    "_distance": None, "_signal_strength": None, "_proximity": "Nähe", "_place": "Ort", "_nearest_receiver": "Nächster Empfänger",
    "_tracker": "Tracker", "_event": "Ereignis", "_count": "Beacons", "_hears": None, "_problem": "Problem",
    "_adverts": "Bluetooth-Pakete", "_waiting_events": "Wartende Ereignisse",
}
ENGLISH = {
    "_distance": "Distance", "_signal_strength": "Signal strength", "_proximity": "Proximity", "_problem": "Problem",
    "_hears": "Connectivity"}


def names(ha):
    """Returns the name of each entity without its device's, by the entity's id."""
    return {
        entity["entity_id"]: entity["original_name"]
        for entity in ha.call("config/entity_registry/list") if entity["platform"] == "mqtt"}


def file(language):
    return configuration(
        [FRONT_ROOM], [beacon("Hut", 11, 6, ", tracker: true")], home_assistant=f"{{ language: {language} }}", more=PLACES)


def speak(ha, language):
    """Restarts Home Assistant in a language."""
    path, other = CONFIG / "configuration.yaml", "de" if language == "en" else "en"
    ha.end()
    path.write_text(path.read_text().replace(f"language: {other}", f"language: {language}"))
    ha.start()


@case("language")
def check_language(house):
    """In German, all entities have German names, the ids are the same, and new entities have the same ids, too."""
    ha = house.home_assistant
    gateway = house.gateway(file("en"))
    house.comes(lambda: "Hut" in ha.devices() and "Diele" in ha.devices(), "beacon and place are devices")
    house.settle()
    before = names(ha)
    for end, wanted in ENGLISH.items():
        found = {entity: name for entity, name in before.items() if entity.endswith(end)}
        house.check(found and set(found.values()) == {wanted}, f"in English, …{end} is {wanted}", found)

    speak(ha, "de")
    try:
        gateway.reload(file("de"))
        house.comes(lambda: names(ha).get("sensor.hut_proximity") == "Nähe", "the names become German", lambda: names(ha))
        house.settle()
        after = names(ha)
        house.check(set(after) == set(before), "all ids are the same", set(after) ^ set(before))
        for end, wanted in GERMAN.items():
            found = {entity: name for entity, name in after.items() if entity.endswith(end)}
            house.check(
                found and all(
                    name == wanted if wanted else name and name not in ENGLISH.values() for name in found.values()),
                f"in German, …{end} is {wanted or 'named by Home Assistant'}", found)
        # All entities are new now, in German.
        house.clean()
        house.gateway(file("de").replace("Hut", "Mütze").replace("minor: 6", "minor: 7"))
        house.comes(lambda: "Mütze" in ha.devices(), "another beacon is a device")
        house.settle()
        ids = {entity.split(".")[1] for entity in ha.entities("Mütze")}
        wanted = {"mutze", *(f"mutze_{end}" for end in (
            "distance", "proximity", "signal_strength", "nearest_receiver", "event", "place", "tracker"))}
        house.check(ids == wanted, "a new beacon in German has the ids of English", ids ^ wanted)
    finally:
        speak(ha, "en")
        # Before that, Home Assistant would not remove the devices.
        house.comes(lambda: ha.state("binary_sensor.mutze") in ("on", "off"), "in English again, the beacon has its state")

"""Draws the events of a soak: visits and faults.

usage: plan.py SECONDS SEED SCENARIO PLAN      the scenario for the air, and the plan for the machine and the report
"""

import json
import random
import sys

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
VISITORS = 4
# The possible faults, their relative frequency, and their duration in seconds. An exit time-out is 30 s, and a scan
# that a first restart does not revive is restarted after 90 s: some faults are shorter than both, some longer.
FAULTS = {
    "radio-scan-ended": (3, 0, 0),
    "radio-power-cycle": (2, 0, 0),
    "radio-silent": (2, 10, 150),
    "radio-refuses": (1, 0, 0),
    "radio-off": (2, 5, 90),
    "radio-unplugged": (2, 5, 120),
    "bluetoothd-restart": (2, 0, 0),
    "bluetoothd-kill": (2, 0, 0),
    "broker-kill": (3, 2, 90),
    "receiver-kill": (2, 2, 90),
    "receiver-fails": (2, 5, 90),
    "receiver-hangs": (2, 5, 90),
    "disk-full": (2, 5, 60),
    "clock-step": (3, 5, 60),
    "suspend": (2, 10, 90),
    "kill": (4, 0, 0),
    "restart": (2, 0, 0),
    "reload": (1, 0, 0),
}


def main():
    seconds, seed, scenario, plan = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    draw = random.Random(seed)

    # Only in a busy air can a radio whose restarted scan hears nothing be distinguished from an empty place
    # (docs/radios.md).
    is_quiet = seed % 2 == 0
    indistinct = {"radio-silent"} if is_quiet else set()
    weights = {kind: weight for kind, (weight, _, _) in FAULTS.items() if kind not in indistinct}

    # No faults in the first minute, so that all beacons are heard first, and in the last two, so that everything can be
    # reported.
    faults, time = [], 60.0
    kinds = list(weights)
    unseen = draw.sample(kinds, len(kinds))
    while True:
        # Each fault once, in random order, then by weight.
        kind = unseen.pop() if unseen else draw.choices(kinds, weights.values())[0]
        least, most = FAULTS[kind][1:]
        duration = round(draw.uniform(least, most), 1)
        if time + duration > seconds - 120:
            break
        fault = {"at": round(time, 1), "kind": kind, "seconds": duration}
        if kind == "clock-step":
            fault["by"] = draw.choice([-1, 1]) * round(draw.choice([3, 60, 3600, 86400]) * draw.uniform(0.5, 1.5), 1)
        faults.append(fault)
        # One in four faults begins while the previous one, or its consequences, lasts.
        time += draw.uniform(0, 1) * duration + 1 if draw.random() < 0.25 else duration + draw.uniform(20, 75)

    visits = {}
    for number in range(1, VISITORS + 1):
        stays, time = [], draw.uniform(20, 120)
        while time < seconds - 60:
            end = time + draw.uniform(60, 240)
            # The absence must be longer than the exit time-out, or there is no exit.
            stays.append([round(time, 1), round(min(end, seconds - 45), 1)])
            time = end + draw.uniform(50, 180)
        visits[f"visitor {number}"] = stays

    with open(scenario, "w") as file:
        json.dump({
            "name": "soak", "description": f"One beacon that stays, {VISITORS} visitors.", "duration": seconds + 1000,
            "uuid": UUID, "seed": seed, "environment": {"lossSpread": 0},
            "receivers": [{"name": "hci0", "position": [0, 0]}],
            "beacons": [{"major": 1, "minor": 1, "position": [2, 0], "interval": 0.3}] + [
                {"major": 2, "minor": number, "position": [3, number], "interval": 0.3, "on": visits[f"visitor {number}"]}
                for number in range(1, VISITORS + 1)],
            # Some 15 adverts a second, or 300.
            "crowds": [{"count": 5 if is_quiet else 100, "area": [[-5, -5], [5, 5]], "interval": 0.3}],
        }, file, indent=1)
    with open(plan, "w") as file:
        json.dump({"seconds": seconds, "seed": seed, "uuid": UUID, "faults": faults, "visits": visits}, file, indent=1)


main()

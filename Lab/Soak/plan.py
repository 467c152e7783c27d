"""Draws what happens in a soak: who comes and goes, and what fails when.

usage: plan.py SECONDS SEED SCENARIO PLAN      the scenario for the air, and the plan for the machine and the report
"""

import json
import random
import sys

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
VISITORS = 4
# What can fail, how often in relation to others, and for how many seconds. An exit time-out is 30 s, and a scan that does not come
# back by a restart is restarted after 90 s: some are shorter than either, some longer than both.
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

    # A radio that hears nothing, though its scan is begun anew, is told from an empty place by a busy air alone (docs/radios.md).
    is_quiet = seed % 2 == 0
    untold = {"radio-silent"} if is_quiet else set()
    weights = {kind: weight for kind, (weight, _, _) in FAULTS.items() if kind not in untold}

    # The first minute is quiet, so that what is there has been heard, and the last two as well, so that all can be told.
    faults, time = [], 60.0
    kinds = list(weights)
    unseen = draw.sample(kinds, len(kinds))
    while True:
        # Each once, in any order, and then as their weights have it.
        kind = unseen.pop() if unseen else draw.choices(kinds, weights.values())[0]
        least, most = FAULTS[kind][1:]
        duration = round(draw.uniform(least, most), 1)
        if time + duration > seconds - 120:
            break
        fault = {"at": round(time, 1), "kind": kind, "seconds": duration}
        if kind == "clock-step":
            fault["by"] = draw.choice([-1, 1]) * round(draw.choice([3, 60, 3600, 86400]) * draw.uniform(0.5, 1.5), 1)
        faults.append(fault)
        # One in four begins while the one before lasts, or its consequences do.
        time += draw.uniform(0, 1) * duration + 1 if draw.random() < 0.25 else duration + draw.uniform(20, 75)

    visits = {}
    for number in range(1, VISITORS + 1):
        stays, time = [], draw.uniform(20, 120)
        while time < seconds - 60:
            end = time + draw.uniform(60, 240)
            # Longer away than the exit time-out, or it would be no exit.
            stays.append([round(time, 1), round(min(end, seconds - 45), 1)])
            time = end + draw.uniform(50, 180)
        visits[f"visitor {number}"] = stays

    with open(scenario, "w") as file:
        json.dump({
            "name": "soak", "description": f"One who stays, {VISITORS} who come and go.", "duration": seconds + 1000,
            "uuid": UUID, "seed": seed, "environment": {"pathLossExponent": 2},
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

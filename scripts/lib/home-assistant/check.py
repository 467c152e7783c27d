"""Runs the cases of scripts/check-home-assistant, which starts it in new namespaces."""

import argparse
import os
import sys
import time

parser = argparse.ArgumentParser(prog="scripts/check-home-assistant")
parser.add_argument("cases", nargs="*", metavar="CASE", help="the cases to run; all by default")
parser.add_argument("--quick", action="store_true", help="run only a dozen cases")
parser.add_argument("--picture", action="store_true", help="also draw docs/images/home-assistant.png")
parser.add_argument("--list", action="store_true", help="list the cases")
arguments = parser.parse_args()
if arguments.list:
    # A list starts nothing, so any folder will do.
    for name in ("PROGRAMS", "FOLDER", "HOME_ASSISTANT"):
        os.environ.setdefault(name, "/")

import case_access  # noqa: E402, F401
import case_blueprints  # noqa: E402, F401
import case_devices  # noqa: E402, F401
import case_documents  # noqa: E402, F401
import case_import  # noqa: E402, F401
import case_interruptions  # noqa: E402, F401
import case_language  # noqa: E402, F401
import case_movements  # noqa: E402, F401
import case_persons  # noqa: E402, F401
import case_proxy  # noqa: E402, F401
import case_reloads  # noqa: E402, F401
import case_rooms  # noqa: E402, F401
import case_gateways  # noqa: E402, F401
import home_assistant  # noqa: E402
import picture  # noqa: E402, F401
from house import House, cases  # noqa: E402

if arguments.list:
    for name, function in cases.items():
        print(f"{name:24}{'quick  ' if function.is_quick else '       '}{function.__doc__.splitlines()[0]}")
    sys.exit()
unknown = [name for name in arguments.cases if name not in cases]
if unknown:
    sys.exit(f"unknown case {', '.join(unknown)}; --list prints all cases")

chosen = [name for name in cases if name in arguments.cases] or [
    name for name, function in cases.items() if name != "picture" and (function.is_quick or not arguments.quick)]
if arguments.picture and "picture" not in chosen:
    chosen.append("picture")
began = time.monotonic()
house = House()
try:
    print(f"     Home Assistant {home_assistant.version()} runs after {time.monotonic() - began:.0f} s", flush=True)
    for name in chosen:
        house.run(name)
finally:
    house.end()
for sentence in house.wrong:
    print("FAIL", sentence, file=sys.stderr)
print(f"check-home-assistant: {house.right} checks passed, {len(house.wrong)} failed, in {time.monotonic() - began:.0f} s")
sys.exit(1 if house.wrong else 0)

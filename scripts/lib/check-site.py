#!/usr/bin/env python3
"""Checks that each link between the static pages of scripts/docs --site leads to a page.

usage: check-site.py FOLDER
"""
import json
import pathlib
import sys

site = pathlib.Path(sys.argv[1])
pages = sorted((site / "data" / "documentation").rglob("*.json"))
between, broken = 0, []
for page in pages:
    # data/documentation/PRODUCT/…
    product = page.relative_to(site).with_suffix("").parts[2]
    for reference in json.loads(page.read_text()).get("references", {}).values():
        url = reference.get("url", "").partition("#")[0]
        if not url.startswith("/documentation/"):
            continue
        between += url.split("/")[2] != product
        if not (site / url.strip("/") / "index.html").is_file():
            broken.append(f"{page.relative_to(site)}: {url}")
if broken:
    sys.exit("links to missing pages:\n" + "\n".join(broken))
if not between:
    sys.exit("no link leads from one product to another")
print(f"{len(pages)} pages; all links lead to a page, {between} of them to another product's.")

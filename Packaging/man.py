#!/usr/bin/env python3
"""Writes the manual pages of a program of this package, from the program's help.

usage: Packaging/man.py PROGRAM FOLDER     PROGRAM.1 and a page for each of its commands
"""

import json
import os
import re
import subprocess
import sys

# The default files of a program.
FILES = {
    "beacond": [
        ("/etc/beacond.yaml", "The configuration of the machine's service."),
        ("/etc/beacond.env", "Its secrets, as lines of NAME=value in a file that only root may read."),
        ("/var/lib/beacond/", "The events of the service, and its state of regions, places and apps."),
        ("~/.local/state/swift-beacon/beacond/", "The same for a beacond that a user starts."),
        ("/usr/share/doc/swift-beacon-gateway/examples/beacond.yaml", "A configuration with every key."),
    ],
}

DATE = os.environ.get("MAN_DATE", "")


def text(words):
    """Returns plain text in the form of roff."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in words.split("\n"))


def paragraphs(words):
    """Returns paragraphs, which blank lines separate; indented lines are not filled."""
    lines = []
    for block in re.split(r"\n\s*\n", words.strip("\n")):
        parts = block.split("\n")
        if any(part.startswith("  ") for part in parts):
            heads = [part for part in parts if not part.startswith("  ")]
            lines += [".PP", *(text(head) for head in heads), ".nf"]
            lines += [text(part) for part in parts if part.startswith("  ")] + [".fi"]
        else:
            lines += [".PP", text(" ".join(parts))]
    return lines


def names(argument):
    """Returns an argument in its written form: -h, --help, --source <source>, <file>."""
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return f"\\fI{text(value)}\\fR"
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    words = [f"\\fB{text(dashes[name['kind']] + name['name'])}\\fR" for name in argument.get("names", [])]
    return ", ".join(words) + (f" \\fI{text(value)}\\fR" if argument["kind"] == "option" else "")


def usage(command, path):
    words = [f"\\fB{text(' '.join(path))}\\fR"]
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True):
            continue
        preferred = dict(argument, names=[argument["preferredName"]] if argument.get("preferredName") else [])
        word = names(preferred)
        words.append((f"[{word}]" if argument.get("isOptional") else word) + ("..." if argument.get("isRepeating") else ""))
    if command.get("subcommands"):
        words.append("\\fIcommand\\fR")
    return " ".join(words)


def page(command, path, version):
    name = "-".join(path)
    lines = [f'.TH {name.upper()} 1 "{DATE}" "swift\\-beacon {version}" "User Commands"', ".SH NAME"]
    lines.append(f"{text(name)} \\- {text(command.get('abstract', '').rstrip('.'))}")
    lines += [".SH SYNOPSIS", usage(command, path)]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *paragraphs(command["discussion"])]
    shown = [one for one in command.get("arguments", []) if one.get("shouldDisplay", True)]
    for title, kinds in [("ARGUMENTS", {"positional"}), ("OPTIONS", {"option", "flag"})]:
        of_kind = [one for one in shown if one["kind"] in kinds]
        if not of_kind:
            continue
        lines.append(f".SH {title}")
        for argument in of_kind:
            lines += [".TP", names(argument)]
            words = " ".join(filter(None, [argument.get("abstract"), argument.get("discussion")]))
            if argument.get("defaultValue"):
                words += f" (default: {argument['defaultValue']})"
            lines.append(text(" ".join(words.split())) or "\\&")
    commands = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
    if commands:
        lines.append(".SH COMMANDS")
        for one in commands:
            lines += [".TP", f"\\fB{text('-'.join([*path, one['commandName']]))}\\fR(1)", text(one.get("abstract", ""))]
    if name in FILES:
        lines.append(".SH FILES")
    for file, words in FILES.get(name, []):
        lines += [".TP", f"\\fI{text(file)}\\fR", text(words)]
    others = [path[:-1]] if len(path) > 1 else [["beacond"] if path == ["beacon"] else ["beacon"]]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{text('-'.join(other))}\\fR(1)" for other in others)]
    return "\n".join(lines) + "\n"


def write(command, path, folder, version):
    with open(os.path.join(folder, "-".join(path) + ".1"), "w") as file:
        file.write(page(command, path, version))
    for one in command.get("subcommands", []):
        if one["commandName"] != "help":
            write(one, [*path, one["commandName"]], folder, version)


def main():
    program, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    said = json.loads(subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout)
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    write(said["command"], [os.path.basename(program)], folder, version)


main()

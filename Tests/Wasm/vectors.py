"""Writes the vectors of frames, fields and HELLO as Swift source. Usage: vectors.py DIRECTORY > Vectors.swift"""

import json
import pathlib
import sys


def tests(directory, name, kind):
    file = json.loads((pathlib.Path(directory) / name).read_text())
    return [test for group in file["groups"] if group["type"] == kind for test in group["tests"]]


def text(value):
    return json.dumps(value)


def boolean(value):
    return "true" if value else "false"


def frame(test):
    append = test.get("append", {"fill": "00", "length": 0})
    frames = ", ".join(
        f'({each["kind"]}, {each["channel"]}, {each["length"]}, {text(each.get("payloadHex", ""))})'
        for each in test["frames"]
    )
    return (
        f'    FrameVector(id: {text(test["id"])}, open: {boolean(test["phase"] == "open")}, '
        f'hex: {text(test["hex"])}, append: (0x{append["fill"]}, {append["length"]}), '
        f'splits: {test.get("splits", [])}, frames: [{frames}], skipped: {test["skipped"]}, '
        f'fails: {boolean(test["result"] == "invalid")}),'
    )


def field(test):
    fields = ", ".join(f'({each["type"]}, {text(each["hex"])})' for each in test.get("entries", []))
    return (
        f'    FieldVector(id: {text(test["id"])}, known: {test["known"]}, repeatable: {test["repeatable"]}, '
        f'hex: {text(test["hex"])}, fields: [{fields}], fails: {boolean(test["result"] == "invalid")}),'
    )


def hello(test):
    # Which versions are common is not a question of form.
    code = {"PROTOCOL": 2, "FLOOD": 14}.get(test.get("error"), "nil")
    return f'    HelloVector(id: {text(test["id"])}, hex: {text(test["hex"])}, code: {code}),'


def write(name, kind, lines):
    # In pieces, each a function of its own: one long literal takes the compiler minutes.
    pieces = [lines[start : start + 10] for start in range(0, len(lines), 10)]
    for number, piece in enumerate(pieces):
        print(f"func {name}{number}() -> [{kind}] {{ [")
        print("\n".join(piece))
        print("] }")
    print(f"var {name}: [{kind}] {{ " + " + ".join(f"{name}{n}()" for n in range(len(pieces))) + " }")


directory = sys.argv[1]
write("frameVectors", "FrameVector", [frame(test) for test in tests(directory, "frames.json", "frames")])
write("fieldVectors", "FieldVector", [field(test) for test in tests(directory, "tlv.json", "tlv")])
write("helloVectors", "HelloVector", [hello(test) for test in tests(directory, "hello.json", "hello")])

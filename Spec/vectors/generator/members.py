"""members.json: the entries of a mesh, chapter 11."""

from . import connection_data
from .wire import LIMIT, Refused, document, seeded, test, u8, u32


def read(payload):
    """Returns the fields of an entry, or refuses it with the check that fails: `frame` (chapter 7) or one of `mesh.entry`."""
    if len(payload) < 29:
        raise Refused("PROTOCOL", "frame")
    count = payload[28]
    if count > LIMIT["memberEntries"]:
        raise Refused("FLOOD", "frame")
    end = 29 + 24 * count
    if len(payload) < end:
        raise Refused("PROTOCOL", "frame")
    origin, listed = payload[:24], [payload[at:at + 24] for at in range(29, end, 24)]
    if count > LIMIT["members"]:
        raise Refused("PROTOCOL", "list")
    if any(later <= earlier for earlier, later in zip(listed, listed[1:])) or origin in listed:
        raise Refused("PROTOCOL", "list")
    try:
        data = connection_data.read(payload[end:])
    except Refused as verdict:
        raise Refused("PROTOCOL", "data") from verdict
    if bytes.fromhex(data["uid"] + data["instance"]) != origin:
        raise Refused("PROTOCOL", "endpoint")
    if not data["flags"] & 1:
        raise Refused("PROTOCOL", "mesh")
    if data["recipient"] is not None:
        raise Refused("PROTOCOL", "open")
    return dict(endpoint=origin.hex(), sequence=int.from_bytes(payload[24:28], "big"),
                list=[one.hex() for one in listed], data=payload[end:].hex())


def encode(endpoint, sequence, listed, data):
    return endpoint + u32(sequence) + u8(len(listed)) + b"".join(listed) + data


def build():
    random = seeded("members")
    recipe = connection_data.Recipe(random)
    mine = {connection_data.RECIPIENT: None, connection_data.LIFETIME: u32(86400)}
    data = recipe.build(mine, flags=1)
    endpoint = recipe.uid + recipe.entries[connection_data.INSTANCE]
    others = sorted(random.randbytes(24) for _ in range(33))
    accepted, refused = [], []

    def good(id, comment, flags, payload):
        accepted.append(test(id, comment, flags, hex=payload.hex(), fields=read(payload), result="valid"))

    def bad(id, comment, check, payload, flags, code="PROTOCOL"):
        try:
            read(payload)
        except Refused as verdict:
            assert (verdict.code, verdict.check) == (code, check), (id, verdict)
        else:
            raise AssertionError(f"{id} passes")
        refused.append(test(id, comment, flags, hex=payload.hex(), result="invalid", error=code, check=check))

    def entry(listed=tuple(others[:2]), sequence=7, data=data, endpoint=endpoint):
        return encode(endpoint, sequence, list(listed), data)

    def varied(changes=(), flags=1, **header):
        return recipe.build({**mine, **dict(changes)}, flags=flags, **header)

    def padded(length):
        room = length - len(varied()) - 4
        return varied(extra=[(0x2A2A, random.randbytes(room))])

    twins = sorted(others[0][:16] + bytes(7) + u8(last) for last in (1, 2))
    good("alone", "no mesh link", ["List"], entry(()))
    good("one", "one mesh link", ["List"], entry(others[:1]))
    good("seven", "a full mesh", ["List"], entry(others[:7]))
    good("most", "the longest list", ["List"], entry(others[:31]))
    good("two-instances", "one uid twice, with two instances", ["List"], entry(twins))
    good("own-uid", "another instance of its uid in the list", ["List"],
         entry(sorted([endpoint[:16] + others[0][16:], others[0]])))
    good("first", "the first entry", ["Sequence"], entry(sequence=1))
    good("last", "the highest sequence", ["Sequence"], entry(sequence=2 ** 32 - 1))
    good("plain", "from a session without encryption", ["Data"], entry(data=varied(recipe.plain())))
    good("identity", "from a session with an identity", ["Data"], entry(data=varied(flags=3)))
    good("all-flags", "unknown flags", ["Data"], entry(data=varied(flags=255)))
    good("grease", "an unknown entry in the data", ["Data"],
         entry(data=varied(extra=[(0x7A7A, b"")])))
    good("short-life", "a lifetime that mesh data never has; only its issuer checks it", ["Data"],
         entry(data=varied({connection_data.LIFETIME: u32(1)})))
    good("longest-data", "data of 1,024 bytes", ["Data"], entry(data=padded(1024)))
    good("longest", "the longest list with the longest data", ["List", "Data"], entry(others[:31], data=padded(1024)))

    bad("empty", "no bytes", "frame", b"", ["Frame"])
    bad("no-count", "the payload ends before the count", "frame", entry()[:28], ["Frame"])
    bad("list-cut", "the payload ends inside the list", "frame", entry()[:29 + 24 + 23], ["Frame"])
    bad("list-missing", "a count and no list", "frame", encode(endpoint, 7, [], b"")[:28] + u8(1), ["Frame"])
    bad("count-33", "a count larger than any mesh", "frame", entry(others[:33]), ["Frame"], "FLOOD")
    bad("count-255", "the highest count, and nothing after it", "frame", entry(())[:28] + u8(255), ["Frame"], "FLOOD")
    bad("count-32", "one more than the longest list", "list", entry(others[:32]), ["List"])
    bad("falling", "the list is not ascending", "list", entry([others[1], others[0]]), ["List"])
    bad("falling-instance", "the list is not ascending by instance", "list", entry(reversed(twins)), ["List"])
    bad("falling-at-the-end", "the last of many is out of order", "list", entry(others[:6] + [others[0]]), ["List"])
    bad("twice", "one endpoint twice", "list", entry([others[0], others[0]]), ["List"])
    bad("itself", "the list has the endpoint of the entry", "list", entry([endpoint]), ["List"])
    bad("itself-among-others", "the list has the endpoint of the entry, and others", "list",
        entry(sorted([endpoint, others[0], others[32]])), ["List"])
    bad("no-data", "nothing after the list", "data", entry(data=b""), ["Data"])
    bad("data-cut", "the data lacks its last byte", "data", entry(data=data[:-1]), ["Data"])
    bad("data-followed", "one byte after the data", "data", entry(data=data + b"\0"), ["Data"])
    bad("data-changed", "one bit of the data has changed", "data",
        entry(data=data[:-9] + u8(data[-9] ^ 1) + data[-8:]), ["Data"])
    bad("data-version", "data of an unsupported version", "data", entry(data=varied(version=2)), ["Data"])
    bad("data-too-long", "data of 1,025 bytes", "data", entry(data=padded(1025)), ["Data"])
    bad("data-no-token", "data without a token", "data", entry(data=varied({connection_data.TOKEN: None})), ["Data"])
    bad("count-low", "a count of 1 and two endpoints", "data",
        entry()[:28] + u8(1) + entry()[29:], ["Data"])
    bad("other-uid", "data of another peer", "endpoint", entry(endpoint=others[3]), ["Endpoint"])
    bad("other-instance", "data of another instance", "endpoint", entry(endpoint=endpoint[:16] + others[3][16:]),
        ["Endpoint"])
    bad("no-mesh", "data without MESH", "mesh", entry(data=varied(flags=0)), ["Mesh"])
    bad("no-mesh-other-flags", "data with all flags but MESH", "mesh", entry(data=varied(flags=254)), ["Mesh"])
    bad("addressed", "data for one recipient", "open",
        entry(data=varied({connection_data.RECIPIENT: others[0][:16]})), ["Open"])
    notes = {"List": "the endpoint's mesh links", "Sequence": "which entry is newer", "Data": "the mesh data",
             "Frame": "the payload has the form of chapter 7", "Endpoint": "the data is of the same endpoint",
             "Mesh": "the data has MESH", "Open": "the data is open"}
    return document("mesh entries", notes, [
        dict(type="members", spec="11", labels=["mesh.entry"], tests=accepted),
        dict(type="members", spec="11", labels=["mesh.entry"], tests=refused)])

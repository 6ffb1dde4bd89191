"""members.json: the entries of a mesh, chapter 11."""

from . import connection_data
from .wire import LIMIT, Refused


def read(payload):
    """What an entry says, or which check fails: `frame` is left to chapter 7, the others are those of `mesh.entry`."""
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

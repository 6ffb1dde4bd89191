"""Checks the packets of multicast DNS, which it reads as JSON lines on standard input.

    auditor.py WHEN-ANNOUNCED WHEN-LEFT
"""

import ipaddress
import json
import struct
import sys

FLUSH = 0x8000
PTR = 12



class Record:
    """A record, or a question if nothing follows its class."""

    def __init__(self, name, kind, place, lifetime=None, data=b""):
        self.name, self.kind, self.rdclass, self.ttl, self.data = name, kind, place, lifetime, data


class Message:
    """A whole message, parsed without our own code. Conventional readers refuse the names in NSEC that RFC 6762 has compressed."""

    def __init__(self, data):
        self.data = data
        self.id, self.flags, *counts = struct.unpack_from("!6H", data)
        self.place = 12
        self.question = [self._question() for _ in range(counts[0])]
        self.answer, self.authority, self.additional = ([self._record() for _ in range(count)] for count in counts[1:])
        if self.place != len(data):
            raise ValueError(f"{len(data) - self.place} bytes after the last record")

    def _name(self, place):
        labels, end, jumps = [], None, 0
        while True:
            length = self.data[place]
            if length >= 0xC0:
                end = end or place + 2
                target = struct.unpack_from("!H", self.data, place)[0] & 0x3FFF
                jumps += 1
                if target >= place or jumps > 128:
                    raise ValueError("a pointer that does not point backwards")
                place = target
            elif length:
                labels.append(self.data[place + 1:place + 1 + length].decode())
                place += 1 + length
            else:
                return ".".join(labels), end or place + 1

    def _question(self):
        name, place = self._name(self.place)
        kind, group = struct.unpack_from("!HH", self.data, place)
        self.place = place + 4
        return Record(name, kind, group)

    def _record(self):
        name, place = self._name(self.place)
        kind, group, lifetime, length = struct.unpack_from("!HHIH", self.data, place)
        place += 10
        self.place = place + length
        if self.place > len(self.data):
            raise ValueError("a record is cut off")
        return Record(name, kind, group, lifetime, self.data[place:self.place])


ANNOUNCED, LEFT = map(float, sys.argv[1:])
faults = []


def fault(packet, text):
    faults.append(f"{packet['at'] - ANNOUNCED:+.2f} s from {packet['source']}: {text}")


def main():
    last, announcements, goodbyes, queries = {}, [], [], []
    count = 0
    for line in sys.stdin:
        packet = json.loads(line)
        count += 1
        payload = bytes.fromhex(packet["payload"])
        source, target = packet["ports"]
        group = ipaddress.ip_address(packet["target"]).is_multicast
        if packet["lifetime"] != 255:
            fault(packet, f"it has {packet['lifetime']} hops left and not 255")
        if packet["length"] > 1500:
            fault(packet, f"it has {packet['length']} bytes, more than the MTU of the link")
        try:
            message = Message(payload)
        except (ValueError, IndexError, struct.error) as error:
            fault(packet, f"it cannot be read: {error}")
            continue
        if group and packet["target"] not in ("224.0.0.251", "ff02::fb"):
            fault(packet, f"it goes to {packet['target']}")
        if message.flags & 0x8000:
            judge_response(packet, message, source, target, group, last, announcements, goodbyes)
        else:
            judge_query(packet, message, source, target, queries)
    judge_times(announcements, goodbyes)
    for text in faults[:20]:
        print(text)
    if not faults:
        print(f"{count} packets: {len(queries)} questions, {len(announcements)} announcements and answers, "
              f"{len(goodbyes)} goodbyes")
    sys.exit(1 if faults else 0)


def judge_query(packet, message, source, target, queries):
    queries.append(packet["at"])
    if target != 5353:
        fault(packet, f"a question goes to port {target}")
    if source == 5353 and message.id != 0:
        fault(packet, f"a question has the id {message.id}")
    for question in message.question:
        if question.rdclass & FLUSH:
            fault(packet, "a question wants a unicast answer")
    for record in message.answer:
        if record.rdclass & FLUSH:
            fault(packet, "a known answer has the cache-flush bit")


def judge_response(packet, message, source, target, group, last, announcements, goodbyes):
    if source != 5353:
        fault(packet, f"a response comes from port {source}")
    if group and (message.id != 0 or message.question):
        fault(packet, "a multicast response has an id or a question")
    if not message.flags & 0x0400:
        fault(packet, "a response is not authoritative")
    is_goodbye = any(record.ttl == 0 for record in message.answer)
    (goodbyes if is_goodbye else announcements).append(packet)
    for record in message.answer + message.additional:
        has_flush = bool(record.rdclass & FLUSH)
        if not group:
            if target != 5353 and (has_flush or record.ttl > 10):
                fault(packet, f"a legacy answer has the flush bit, or lives {record.ttl} s")
            continue
        if has_flush == (record.kind == PTR):
            fault(packet, f"{record.name} {record.kind}: the flush bit is {has_flush}")
        if record.ttl not in (0, 120, 4500):
            fault(packet, f"{record.name} lives {record.ttl} s")
        key = (packet["source"], record.name.lower(), record.kind, record.data)
        if record in message.answer and record.ttl:
            if packet["at"] - last.get(key, float("-inf")) < 0.98:
                fault(packet, f"{record.name} {record.kind} again after "
                      f"{packet['at'] - last[key]:.2f} s")
            last[key] = packet["at"]


def judge_times(announcements, goodbyes):
    for source in {packet["source"] for packet in announcements}:
        times = sorted(packet["at"] for packet in announcements if packet["source"] == source
                       and ipaddress.ip_address(packet["target"]).is_multicast)
        early = [at for at in times if at < ANNOUNCED + 5]
        if not 2 <= len(early) <= 5:
            faults.append(f"{source} announced {len(early)} times in the first 5 s")
        late = [at for at in times if ANNOUNCED + 5 <= at < LEFT]
        # Only answers to the browser's queries, which back off; nothing is sent unsolicited.
        if len(late) > 6:
            faults.append(f"{source} sent {len(late)} packets in the quiet period")
        goodbye_times = [packet["at"] for packet in goodbyes if packet["source"] == source]
        if len(goodbye_times) != 3:
            faults.append(f"{source} sent goodbye {len(goodbye_times)} times")
        elif not 0.05 < goodbye_times[2] - goodbye_times[0] < 1:
            faults.append(f"{source} sent its goodbyes within {goodbye_times[2] - goodbye_times[0]:.3f} s")


main()

"""What Apple's sessions carry, between real processes that use only `import MultipeerConnectivity`: messages,
files, web addresses and streams."""

import http.server
import os
import tempfile
import threading
import time
import zlib
from contextlib import contextmanager

from .device import TIMEOUT, Device, invite, now, quit_all
from .peer import expect, until


@contextmanager
def pair():
    """Two connected devices."""
    with tempfile.TemporaryDirectory() as directory:
        one, other = Device(directory, "one"), Device(directory, "other")
        other.order("greet", "hello")
        invite(one, other)
        # Sent from inside of `.connected`.
        one.await_said("message", text="hello", id=other.id)
        yield one, other
        quit_all(one, other)


def facade_messages():
    """Reference 6: Messages of 0 B to 1 MiB arrive unchanged, once, in order, `.reliable`, and `.unreliable` unchanged;
    without recipients `send` throws `.invalidParameter`, to a peer that is not connected `.notConnected`, and no
    peer gets them"""
    with pair() as (one, other):
        # Small ones after large ones, which tests the order.
        sizes = [0, 8, 100, 1_000, 40_000, 65_535, 65_536, 100_000, 1_048_576] + [20] * 300
        sent = []
        for number, size in enumerate(sizes):
            sent.append(one.order("send", "reliable", 1, size, number, other.id))
        one.order("send", "reliable", 1_000, 64, 10_000, other.id)
        other.await_said("message", id=one.id, number=10_999)
        got = other.heard("message", id=one.id)
        expect([(entry["bytes"], entry["crc"]) for entry in got[:len(sizes)]]
               == [(entry["bytes"], entry["crc"]) for entry in sent], "the messages differ, or are not in order")
        numbers = [entry["number"] for entry in got[len(sizes):]]
        expect(numbers == list(range(10_000, 11_000)), f"{len(numbers)} of 1,000, or not in order")
        since = other.mark()
        for size in (0, 100, 1_000, 40_000):
            one.order("send", "unreliable", 5, size, 20_000, other.id)
        one.order("say", "behind", other.id)
        other.await_said("message", since, text="behind")
        # Nothing is lost on an idle machine, but that is not guaranteed.
        until(lambda: len(other.heard("message", since)) > 10, TIMEOUT, "of 20 unreliable messages most are lost")
        for entry in other.heard("message", since):
            expect(entry["bytes"] in (0, 6, 100, 1_000, 40_000), f"a message of {entry['bytes']} bytes")
        unreliable = len(other.heard("message", since)) - 1
        since = other.mark()
        expect(one.refused("send", "reliable", 1, 10, 1) == "invalidParameter", "a message without receivers was accepted")
        expect(one.refused("send", "reliable", 1, 10, 1, one.id) == "notConnected", "a message to itself was accepted")
        stranger = Device(os.path.dirname(one.home), "stranger")
        one.order("meet", stranger.order("archive", os.path.join(one.home, "stranger")) and
                  os.path.join(one.home, "stranger"))
        expect(one.refused("send", "reliable", 1, 10, 1, other.id, stranger.id) == "notConnected",
               "a message to an unknown peer was accepted")
        expect(one.refused("send", "reliable", 1, 65 << 20, 1, other.id) == "invalidParameter",
               "a message of 65 MiB was accepted")
        one.order("say", "last", other.id)
        other.await_said("message", since, text="last")
        expect(len(other.heard("message", since)) == 1, "a refused message has arrived")
        quit_all(stranger)
        return f"{len(got)} in order, {unreliable} of 20 unreliable ones"


class Web(http.server.ThreadingHTTPServer):
    """A server on 127.0.0.1 with a complete document at /whole, one that never completes at /half, and nothing else."""

    def __init__(self):
        self.bytes = os.urandom(300_000)
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Page)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path not in ("/whole", "/half"):
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.bytes)))
        self.end_headers()
        if self.path == "/whole":
            return self.wfile.write(self.server.bytes)
        self.wfile.write(self.server.bytes[:200_000])
        self.wfile.flush()
        self.server.over.wait(60)

    def log_message(self, *_):
        pass


def expect_file(entry, size, crc):
    """Checks that the reported file is the one that was sent."""
    expect("error" not in entry and "lost" not in entry, f"{entry}")
    with open(entry["path"], "rb") as file:
        found = file.read()
    expect((len(found), zlib.crc32(found)) == (size, crc), f"{entry['name']} has {len(found)} bytes, or different ones")
    expect(not os.path.exists(entry["temporary"]), "the temporary file is still there")


def facade_files():
    """Reference 7: Files and a web document arrive unchanged, with `Progress` up to 1, a temporary file and one call of
    the handler; either side cancels; what cannot be sent is an error: `.unsupported`, `.notConnected`, and no
    `Progress`"""
    web = Web()
    try:
        with pair() as (one, other):
            for size in (0, 1, 200_000, 8 << 20):
                made = one.order("file", f"source-{size}", size)
                # A name that must not be taken for a path.
                name = f"file-{size}.bin"
                expect(one.order("offer", f"source-{size}", name, other.id)["progress"], "no progress")
                entry = other.await_said("received", name=name)
                expect_file(entry, size, made["crc"])
                expect(entry["fraction"] == 1, f"received, but its progress is {entry['fraction']}")
                told = one.await_said("sent", name=name)
                expect("error" not in told, f"{told}")
                progress = one.order("progress", name)
                expect(progress["fraction"] == 1 and progress["completed"] == progress["total"], f"{progress}")
                expect(other.heard("receiving", name=name)[0]["t"] <= entry["t"], "received before it began")
            # By URL: a file, and a web document.
            place = "file://" + os.path.join(one.home, "source-200000")
            one.order("offer", place, "by-url", other.id)
            expect_file(other.await_said("received", name="by-url"), 200_000,
                        one.heard("did", order="file", bytes=200_000)[0]["crc"])
            one.order("offer", web.address("/whole"), "page", other.id)
            expect_file(other.await_said("received", name="page"), len(web.bytes), zlib.crc32(web.bytes))
            expect("error" not in one.await_said("sent", name="page"), "the page was not sent")

            # Cancelled on either side, while it is certainly in flight.
            for side, name in ((one, "off-here"), (other, "off-there")):
                one.order("offer", web.address("/half"), name, other.id)
                other.await_said("receiving", name=name)
                until(lambda: other.order("progress", name)["completed"] > 0, TIMEOUT, "nothing arrives")
                begun = now()
                side.order("cancel", name)
                for device, event in ((one, "sent"), (other, "received")):
                    told = device.await_said(event, name=name)
                    expect(told.get("code") == "cancelled" and "path" not in told, f"{device.name} received {told}")
                    expect(told["t"] - begun < 5, f"notified after {told['t'] - begun:.1f} s")
                expect(side.order("progress", name)["cancelled"], "its progress is not cancelled")

            for name, place, code in (("ftp", "ftp://127.0.0.1/x", "unsupported"), ("no-page", web.address("/no"), None),
                                      ("no-file", os.path.join(one.home, "no"), None)):
                one.order("offer", place, name, other.id)
                told = one.await_said("sent", name=name)
                expect("code" in told and code in (None, told["code"]), f"{place}: {told}")
            # In flight when the session is left: an error, once, on both sides.
            one.order("offer", web.address("/half"), "left", other.id)
            other.await_said("receiving", name="left")
            one.order("disconnect")
            errors = [device.await_said(event, name="left") for device, event in ((one, "sent"), (other, "received"))]
            for told in errors:
                expect(told.get("code") and "path" not in told, f"after leaving: {told}")
            other.await_state(one, "notConnected")
            answer = one.order("offer", "source-1", "late", other.id)
            told = one.await_said("sent", name="late")
            expect(told.get("code") == "notConnected", f"sent to a peer that is not connected: {told}")
            for device, event in ((one, "sent"), (other, "received")):
                names = [entry["name"] for entry in device.heard(event)]
                expect(len(names) == len(set(names)), f"{device.name} was notified twice of one file")
            left = [name for _, _, names in os.walk(os.path.join(other.home, "tmp")) for name in names]
            expect(not left, f"files remain: {left}")
            return (f"4 sizes, by URL, from the web; {errors[0]['code']} and {errors[1]['code']} when it leaves; "
                    f"{'a' if answer['progress'] else 'no'} progress to a peer that is not connected")
    finally:
        web.close()


def facade_streams():
    """Reference 8: Streams deliver every byte and then their end, with the events of Foundation on the run loop of the
    thread that scheduled them, and without one; several at once, during a file transfer; a reader that waits holds
    back the writer"""
    with pair() as (one, other):
        def expect_stream(name, count):
            wrote, read = one.await_said("wrote", name=name), other.await_said("read", name=name)
            expect(wrote["bytes"] == read["bytes"] == count and wrote["crc"] == read["crc"], f"{name}: {wrote} {read}")
            return wrote, read

        def expect_events(told, kind):
            events = told["events"]
            expect(told["right"], f"events of {told['name']} on another thread, or of another stream")
            expect(events.get("open") == 1 and not events.get("error"), f"{told['name']}: {events}")
            expect(events.get(kind, 0) >= 1, f"{told['name']} had no event of {kind}: {events}")
            expect(told["idle"] == 0, f"the run loop had nothing to wait for, {told['idle']} times")

        # Several at once, and a file, and messages that do not wait for them.
        one.order("file", "beside", 4 << 20)
        sizes = {"empty": 0, "small": 5, "text": 200_000, "more": 3_000_000}
        for name, size in sizes.items():
            one.order("stream", name, other.id, size)
        one.order("offer", "beside", "beside", other.id)
        one.order("say", "beside", other.id)
        for name, size in sizes.items():
            wrote, read = expect_stream(name, size)
            expect_events(wrote, "space")
            expect(read["events"].get("end") == 1, f"{name}: {read['events']}")
            if size:
                expect_events(read, "bytes")
        other.await_said("message", text="beside")
        expect("error" not in other.await_said("received", name="beside"), "the file did not arrive")

        # Without a run loop, on either side.
        other.order("reading", "block")
        one.order("stream", "both-wait", other.id, 400_000, "block")
        expect_stream("both-wait", 400_000)
        one.order("stream", "reader-waits", other.id, 400_000)
        expect_stream("reader-waits", 400_000)
        other.order("reading", "loop")
        one.order("stream", "writer-waits", other.id, 400_000, "block")
        expect_stream("writer-waits", 400_000)

        # Without a reader the writer blocks, memory does not grow, and messages are still delivered.
        other.order("reading", "later")
        memory = [device.figures()[2] for device in (one, other)]
        for name in ("held", "held-waiting"):
            one.order("stream", name, other.id, 6_000_000, *(["block"] if name != "held" else []))
            other.await_said("stream", name=name)
        time.sleep(0.3)
        one.order("say", "past", other.id)
        other.await_said("message", text="past")
        expect(not one.heard("wrote", name="held") and not one.heard("wrote", name="held-waiting"),
               "6 MB were sent to a peer that does not read")
        grown = max(device.figures()[2] - old for device, old in zip((one, other), memory))
        expect(grown < 16, f"grown by {grown:.0f} MiB")
        for name in ("held", "held-waiting"):
            other.order("read", name)
            expect_stream(name, 6_000_000)

        # In flight when the session is left: an error at both ends.
        other.order("reading", "loop")
        one.order("stream", "left", other.id, -1)
        other.await_said("stream", name="left")
        time.sleep(0.05)
        other.order("disconnect")
        broken = [device.await_said(event, name="left") for device, event in ((one, "wrote"), (other, "read"))]
        for told in broken:
            expect(told["events"].get("error") == 1 and "error" in told, f"after leaving: {told}")
        one.await_state(other, "notConnected")
        expect(one.refused("stream", "late", other.id, 10) == "notConnected",
               "a stream to a peer that is not connected was opened")
        return f"{len(sizes) + 5} streams; {grown:.1f} MiB without a reader; {broken[0].get('code')} when it leaves"

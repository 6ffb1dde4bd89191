"""resources.json: how a receiver answers a resource, and what a name may be, chapter 9."""

from .wire import LIMIT, Refused, document, is_text, seeded, sha256, test


class Receiver:
    """Stores one resource. Returns a frame and its code, or nothing."""

    def __init__(self, size, has_no_digest):
        self.size, self.has_no_digest, self.stored, self.answer = size, has_no_digest, b"", None

    def data(self, bytes):
        if self.answer:
            return
        if self.size is not None and len(self.stored) + len(bytes) > self.size:
            self.answer, self.stored = "STOP DIGEST", None
            return
        self.stored += bytes

    def fin(self, digest):
        if self.answer:
            return
        possible = (None,) if self.has_no_digest else (None, sha256(self.stored))
        fits = (self.size in (None, len(self.stored))) and digest in possible
        self.answer = "DONE OK" if fits else "DONE DIGEST"
        if not fits:
            self.stored = None


def build():
    random = seeded("resources")
    objects, names = [], {"valid": [], "invalid": []}

    def add(id, comment, flags, expect, pieces, size=None, digest=None, has_no_digest=False):
        """`digest` is bytes, or a function that makes it from the right digest."""
        content = b"".join(bytes([fill]) * length for fill, length in pieces)
        if callable(digest):
            digest = digest(sha256(content))
        receiver = Receiver(size, has_no_digest)
        for fill, length in pieces:
            receiver.data(bytes([fill]) * length)
        receiver.fin(digest)
        assert receiver.answer == expect, (id, receiver.answer)
        more = dict(pieces=[dict(fill=f"{fill:02x}", length=length) for fill, length in pieces])
        if size is not None:
            more["size"] = str(size)
        if digest is not None:
            more["digest"] = digest.hex()
        if has_no_digest:
            more["noDigest"] = True
        more["answer"] = receiver.answer
        if expect == "DONE OK":
            more.update(sha256=sha256(content).hex(), length=len(content), result="valid")
        else:
            more.update(result="invalid", error="DIGEST", check="size" if "Size" in flags else "digest")
        objects.append(test(id, comment, flags, **more))

    right = lambda value: value
    changed = lambda at, bit: lambda value: value[:at] + bytes([value[at] ^ bit]) + value[at + 1:]
    small, piece = [(0x61, 3)], LIMIT["channelPiece"]
    add("empty", "no bytes", ["Whole"], "DONE OK", [])
    add("empty-all", "no bytes, SIZE 0, their digest", ["Whole"], "DONE OK", [], 0, right)
    add("bytes-alone", "neither SIZE nor DIGEST", ["Whole"], "DONE OK", small)
    add("size-alone", "SIZE without DIGEST", ["Whole"], "DONE OK", small, 3)
    add("digest-alone", "DIGEST without SIZE", ["Whole"], "DONE OK", small, None, right)
    add("both", "SIZE and DIGEST", ["Whole"], "DONE OK", small, 3, right)
    add("pieces", "the digest is that of all bytes together", ["Whole"], "DONE OK", [(1, 1), (2, piece), (3, 7)], piece + 8, right)
    add("long", "more than one window", ["Whole"], "DONE OK", [(7, 65536)] * 5 + [(9, 1)], 5 * 65536 + 1, right)
    add("size-short", "one byte is missing", ["Size"], "DONE DIGEST", small, 4, right)
    add("size-nothing", "all bytes are missing", ["Size"], "DONE DIGEST", [], 1)
    add("size-much-more", "one mebibyte more was announced", ["Size"], "DONE DIGEST", small, 3 + 2 ** 20)
    add("size-over", "one byte too many, in the first piece", ["Size"], "STOP DIGEST", small, 2)
    add("size-over-zero", "SIZE 0, and one byte", ["Size"], "STOP DIGEST", [(0, 1)], 0)
    add("size-over-later", "a later piece exceeds SIZE", ["Size"], "STOP DIGEST", [(1, 100), (2, 100), (3, 1)], 200)
    add("digest-other", "random bytes", ["Digest"], "DONE DIGEST", small, 3, random.randbytes(32))
    add("digest-first-bit", "one bit is wrong", ["Digest"], "DONE DIGEST", small, None, changed(0, 0x80))
    add("digest-last-bit", "one bit is wrong", ["Digest"], "DONE DIGEST", small, None, changed(31, 1))
    add("digest-of-nothing", "the digest of no bytes", ["Digest"], "DONE DIGEST", small, None, sha256(b""))
    add("digest-zero", "32 zero bytes", ["Digest"], "DONE DIGEST", small, None, bytes(32))
    add("digest-of-first-piece", "only the first piece was hashed", ["Digest"], "DONE DIGEST", [(1, 10), (2, 10)], 20,
        sha256(b"\1" * 10))

    add("no-digest", "OPEN has NO_DIGEST", ["Whole"], "DONE OK", small, 3, None, True)
    add("no-digest-size", "NO_DIGEST, and one byte is missing", ["Size"], "DONE DIGEST", small, 4, None, True)
    add("no-digest-digest", "NO_DIGEST, and the right digest", ["Digest"], "DONE DIGEST", small, 3, right, True)

    def name(id, comment, flags, value):
        """Adds a test of a name: it is a label or is refused; no name is ever a path."""
        data = value if isinstance(value, bytes) else value.encode()
        good = 1 <= len(data) <= LIMIT["channelName"] and is_text(data, control_allowed=True)
        more = dict(name=data.hex())
        more.update(dict(result="valid") if good else dict(result="invalid", error="PROTOCOL", check="entries"))
        assert good != ("Refused" in flags), id
        names[more["result"]].append(test(id, comment, flags, **more))

    name("name-usual", "an ordinary name", ["Label"], "photo.jpg")
    name("name-one", "one byte", ["Label"], "x")
    name("name-space", "a space", ["Label"], " ")
    name("name-1024", "the longest", ["Label"], "n" * 1024)
    name("name-emoji", "1,024 bytes, in characters of four", ["Label"], "\U0001F389" * 256)
    name("name-parent", "the folder above", ["Path"], "..")
    name("name-here", "the folder itself", ["Path"], ".")
    name("name-traversal", "up and down again, with the slash of Unix", ["Path"], "../../etc/passwd")
    name("name-traversal-inside", "in the middle", ["Path"], "a/../../b")
    name("name-traversal-windows", "with the other slash", ["Path"], "..\\..\\boot.ini")
    name("name-absolute", "from the root", ["Path"], "/etc/shadow")
    name("name-home", "a home folder", ["Path"], "~/.ssh/authorized_keys")
    name("name-drive", "a drive", ["Path"], "C:\\Windows\\x")
    name("name-share", "a share", ["Path"], "\\\\server\\share\\x")
    name("name-url", "a URL", ["Path"], "file:///etc/passwd")
    name("name-escaped", "an escaped slash", ["Path"], "..%2f..%2fetc%2fpasswd")
    name("name-full-width", "characters that look like dots and slashes", ["Path"], "\uFF0E\uFF0E\uFF0Fetc")
    name("name-device", "a device of Windows", ["Path"], "CON")
    name("name-device-ending", "a device with an ending", ["Path"], "lpt1.txt")
    name("name-stream", "a second stream of a file", ["Path"], "a.txt:hidden")
    name("name-dash", "an option", ["Path"], "-rf")
    name("name-hidden", "a hidden file", ["Path"], ".bashrc")
    name("name-end-dot", "dot and space at the end", ["Path"], "a. ")
    name("name-nul", "a zero byte", ["Show"], b"a.txt\0.exe")
    name("name-line", "line breaks", ["Show"], "a\r\nb")
    name("name-escape", "a terminal's escape", ["Show"], "\x1b[2J\x1b]0;title\x07")
    name("name-bidi", "an override of direction", ["Show"], "annex\u202Egpj.exe")
    name("name-isolate", "an isolate that never ends", ["Show"], "\u2066a")
    name("name-c1", "a C1 control", ["Show"], "a\u009B31m")
    name("name-empty", "no bytes", ["Refused"], b"")
    name("name-1025", "one byte too long", ["Refused"], "n" * 1025)
    name("name-cut", "ends inside a character", ["Refused"], b"a\xc3")
    name("name-overlong", "a slash in two bytes", ["Refused"], b"..\xc0\xaf")
    name("name-surrogate", "half of a pair", ["Refused"], b"\xed\xa0\x80")
    name("name-latin", "another encoding", ["Refused"], "größe".encode("latin-1"))
    notes = {"Whole": "size and digest match", "Size": "SIZE is not the number of bytes",
             "Digest": "DIGEST is not that of the bytes",
             "Label": "a name for display", "Path": "a valid label that would be a dangerous path",
             "Refused": "not UTF-8, or no name",
             "Show": "a valid label that is not displayed as it is"}
    return document("resources", notes, [
        dict(type="resource", spec="9", labels=["resource.size", "resource.digest", "resource.done"], tests=objects),
        dict(type="resource-name", spec="9", labels=["resource.label", "channel.name"],
             tests=names["valid"] + names["invalid"])])

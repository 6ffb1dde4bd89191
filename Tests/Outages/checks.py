"""The checks: what each runs in each form, and what must be true of the results."""

import collections
import random
import statistics

import kernel
import rooms
from jobs import Job
from stage import Failure

FORMS = {"quick": "the quick form", "usual": "the usual form", "full": "the full form"}

CALM = (2, 3, 4, 5, 6, 6.5)
SHORT, LONG = (1, 3, 6, 7, 8, 10, 12, 16, 20), (60, 150, 300)
RATES = (64_000, 128_000, 256_000, 1_000_000)


class Check:
    """A name, a sentence that is true if it passes, and the programs that it needs."""

    def __init__(self, name, text, products=("MultipeerWitness",)):
        self.name, self.text, self.products = name, text, products

    def jobs(self, options):
        """Returns the jobs of a form, each with a seed of its own that depends on nothing else."""
        jobs = list(self.plan(options.form, options.count))
        for number, job in enumerate(jobs):
            job.arguments["seed"] = random.Random(f"{options.seed} {self.name} {number}").getrandbits(32)
        return jobs


def values(jobs):
    """Returns the results of the jobs that have one."""
    return [job.value for job in jobs if job.value is not None]


def fail_if(failures, of):
    """Fails with the first of the failures, and how many there are."""
    if failures:
        shown = [text if len(text) < 160 else text[:160] + "…" for text in failures[:6]]
        raise Failure(f"{len(failures)} failures, {of} cases: " + "; ".join(shown) + (" …" if len(failures) > 6 else ""))


def broken(jobs):
    """Returns what went wrong in jobs without a result."""
    return [f"{job}: {job.failed}" for job in jobs if job.failed is not None]


# MARK: links on a network that carries nothing


class Survival(Check):
    def __init__(self, name, busy, old):
        kind = "busy" if busy else "idle"
        where = " on a kernel without TCP_RTO_MAX_MS, of 30" if old else ""
        text = f"{'at most one ' if old else 'no '}{kind} link{where} ends when nothing arrives for 2 to 6.5 s"
        super().__init__(name, text)
        self.busy, self.old = busy, old

    def plan(self, form, count):
        links, times, outages = {"quick": (6, 0 if self.old else 1, (6.5,)), "usual": (10, 1, CALM), "full": (10, 3, CALM)}[form]
        for _ in range(count or times):
            yield Job("quiet.survive", 60 + 45 * len(outages), 2 * links, outages=outages, links=links, busy=self.busy,
                      without_option=self.old)

    def judge(self, jobs):
        fail_if(broken(jobs), len(jobs))
        links, ended, reasons = collections.Counter(), collections.Counter(), []
        for value in values(jobs):
            for found in value["outages"]:
                links[found["outage"]] += found["links"]
                ended[found["outage"]] += len(found["ended"])
                reasons += found["ended"]
        text = ", ".join(f"{length:g} s: {ended[length]} of {links[length]}" for length in sorted(links))
        asked = sum(value["refused"] or 0 for value in values(jobs))
        if self.old:
            text += f"; the option was refused {asked} times" if asked else "; no program asked for the option"
        elif not kernel.has_rto_max():
            text += "; this kernel has no TCP_RTO_MAX_MS"
        allowed = {length: max(1, links[length] // 30) if self.old or not kernel.has_rto_max() else 0 for length in links}
        if any(ended[length] > allowed[length] for length in links):
            raise Failure(f"ended: {text}; the first after {reasons[0]}")
        return f"ended: {text}"


class Death(Check):
    LIMIT = 13.5

    def plan(self, form, count):
        for _ in range(count or 1):
            yield Job("quiet.death", 60, 16, links={"quick": 4, "usual": 10, "full": 30}[form])

    def judge(self, jobs):
        fail_if(broken(jobs), len(jobs))
        found = [seconds for value in values(jobs) for seconds in value]
        late = [f"{seconds:.1f} s" if seconds else "not within 20 s" for seconds in found if not seconds or seconds > self.LIMIT]
        fail_if(late, len(found))
        return f"{len(found)} ends notice it after {min(found):.1f} to {max(found):.1f} s"


class Cost(Check):
    PACKETS, MILLISECONDS = 200, 60

    def plan(self, form, count):
        if form != "quick":
            yield Job("quiet.cost", 300, 8, seconds=60 if form == "usual" else 180)

    def judge(self, jobs):
        fail_if(broken(jobs), len(jobs))
        value = values(jobs)[0]
        packets = sum(value["packets"].values())
        kinds = ", ".join(f"{count:g} {kind}" for kind, count in sorted(value["packets"].items()))
        text = f"{packets:g} packets a minute, both ways ({kinds}); {value['milliseconds']:g} ms of a processor"
        if packets > self.PACKETS or value["milliseconds"] > self.MILLISECONDS:
            raise Failure(text)
        return text


class Datagrams(Check):
    BLIND, AGAIN = 2.0, 5.0

    def plan(self, form, count):
        for seconds in (5,) if form == "quick" else (5, 16, 40):
            for _ in range(count or {"quick": 1, "usual": 1, "full": 5}[form]):
                yield Job("datagrams.unreliable", 160, 4, seconds=seconds)

    def judge(self, jobs):
        failures, texts = broken(jobs), []
        for job in jobs:
            for end in job.value or ():
                again = "not again" if end["again"] is None else f"up again after {end['again']:.1f} s"
                text = f"{job.arguments['seconds']} s: up for {end['blind']:.1f} s, {again}, {end['lost']} lost"
                texts.append(text)
                # A tenth of a second for the report.
                if end["blind"] > self.BLIND + 0.1 or end["again"] is None or end["again"] > self.AGAIN:
                    failures.append(text)
        fail_if(failures, len(texts))
        return "; ".join(texts[:6])


# MARK: bad paths


class Uplinks(Check):
    def plan(self, form, count):
        cells = [(rate, congestion, load) for load in ("messages", "large", "file") for rate in RATES for congestion in ("cubic", "bbr")]
        if form == "quick":
            cells = [(128_000, "cubic", "messages")]
        elif form == "usual":
            cells = [cell for cell in cells if cell[2] == "messages" or cell[0] in (128_000, 1_000_000)]
        for rate, congestion, load in cells:
            for _ in range(count or (3 if form == "full" else 1)):
                yield Job("links.uplink", 380, 3, rate=rate, congestion=congestion, load=load)

    def judge(self, jobs):
        failures, ok = broken(jobs), 0
        for job in jobs:
            if job.value and "failed" in job.value:
                cell = job.arguments
                failures.append(f"{cell['rate'] // 1_000} kbit/s, {cell['congestion']}, {cell['load']}: {job.value['failed']}")
            ok += bool(job.value and "seconds" in job.value)
        fail_if(failures, len(jobs))
        return f"{ok} of {len(jobs)} live, and everything has arrived"


class Small(Check):
    def plan(self, form, count):
        for mtu in (576, 1_280, 1_400):
            for _ in range(count or (3 if form == "full" else 1)):
                if form != "quick" or mtu == 1_280:
                    yield Job("links.small", 160, 3, mtu=mtu)
                if form != "quick" or mtu == 576:
                    yield Job("links.invited", 60, 3, mtu=mtu)

    def judge(self, jobs):
        failures, texts = broken(jobs), []
        for job in jobs:
            if job.value is None:
                continue
            seconds = job.value["seconds"]
            for what in job.value.get("failed", ()):
                failures.append(f"{job.arguments['mtu']} bytes, {what}")
            if job.function == "links.small":
                texts.append(f"{job.arguments['mtu']}: " + ", ".join(f"{what} {value} s" for what, value in seconds.items()))
            elif seconds is None:
                failures.append(f"{job.arguments['mtu']} bytes: the invitation leads to no link")
            else:
                texts.append(f"{job.arguments['mtu']}: invitation {seconds:.1f} s")
        fail_if(failures, len(jobs))
        return "; ".join(texts[:6])


class Loss(Check):
    def plan(self, form, count):
        if form != "quick":
            for _ in range(count or 1):
                yield Job("links.lossy", 400, 44, links=20, loss=0.3, seconds=60 if form == "usual" else 180)

    def judge(self, jobs):
        fail_if(broken(jobs), len(jobs))
        texts, failed = [], False
        for value in values(jobs):
            failed = failed or len(value["ended"]) > value["plain ended"]
            texts.append(f"{len(value['ended'])} of {value['links']} links ended, {value['plain ended']} plain connections did, the "
                         f"longest wait of one was {value['plain idle']} s, {value['packets lost']} packets lost")
            texts += value["ended"][:2]
        if failed:
            raise Failure("; ".join(texts))
        return "; ".join(texts)


# What an error says if descriptors are the reason, or that the peer cannot take more at the moment.
WORDS = ("too many open files", "descriptor", "busy", "declined")


class Descriptors(Check):
    def plan(self, form, count):
        limits, files, size = ((128,), 24, 65_536) if form == "quick" else ((64, 128, 256, 1_024), 64, 200_000)
        for limit in limits:
            for _ in range(count or (10 if form == "full" else 1)):
                yield Job("links.descriptors", 280, 30, limit=limit, files=files, size=size)

    def judge(self, jobs):
        failures, texts = broken(jobs), []
        for job in jobs:
            value = job.value
            if value is None:
                continue
            limit = f"limit {job.arguments['limit']}"
            unclear = [text for text in value["words"] if not any(word in text.lower() for word in WORDS)]
            if unclear:
                failures.append(f"{limit}: an error says only '{unclear[0]}'")
            if value["unanswered"] or value["ended"]:
                failures.append(f"{limit}: {value['unanswered']} files without an answer, links that ended: {value['ended'][:1]}")
            if value["back"] < 7 or value["files afterwards"] < 7:
                failures.append(f"{limit}: afterwards {value['back']} of 7 are linked, and {value['files afterwards']} files arrive")
            texts.append(f"{limit}: {value['linked']} linked, {value['arrived']} of {value['of']} files in {value['seconds']} s")
        fail_if(failures, len(jobs))
        return "; ".join(texts[:8])


# MARK: documented programs


class Rooms(Check):
    def __init__(self, program, size):
        what = {"chat": "the README's chat", "start": "the chat of Getting started", "apple": "a chat with Apple's API",
                "star": "a chat without a mesh"}[program]
        super().__init__(f"{program}-{size}", f"{size} times {what} are linked again at most {rooms.LIMIT:g} s after an outage",
                         tuple(rooms.PROGRAMS[program][:1]))
        self.program, self.size = program, size

    def plan(self, form, count):
        if form == "quick":
            cases = {"chat-2": [("switch", 9), ("address", 8)], "chat-4": [("switch", 10)], "start-2": [("port", 8)],
                     "apple-2": [("switch", 12)],
                     "star-2": [("switch", 10)]}.get(self.name, [])
            plans = [(sort, [seconds]) for sort, seconds in cases for _ in range(count or 1)]
        else:
            times, seldom = {"usual": (1, 0), "full": (10, 3)}[form]
            plans = []
            for sort in rooms.SORTS:
                for number in range(count or times):
                    shuffled = list(SHORT)
                    random.Random(number).shuffle(shuffled)
                    plans.append((sort, shuffled))
                plans += [(sort, [seconds]) for seconds in LONG for _ in range(min(count or seldom, seldom))]
        for sort, seconds in plans:
            # For each outage: until it begins, until the room is linked, and a new start if it is not.
            limit = 60 + sum(seconds) + len(seconds) * (4 + rooms.WATCHED + rooms.STEADY + rooms.START)
            yield Job("rooms.outages", limit, self.size, program=self.program, size=self.size, sort=sort, seconds=seconds)

    def judge(self, jobs):
        found = [outage for value in values(jobs) for outage in value]
        of = sum(len(job.arguments["seconds"]) for job in jobs)
        failures = broken(jobs)
        for outage in found:
            text = f"{outage['sort']} {outage['outage']} s, {outage['who']}"
            if outage["late"] > rooms.LATE / 2:
                text += f" (this machine was {outage['late']:.1f} s late)"
            if outage["after"] is None:
                failures.append(f"{text}: not within {rooms.WATCHED:.0f} s ({', '.join(outage['missing'][:2])})")
            elif outage["after"] > rooms.LIMIT:
                failures.append(f"{text}: after {outage['after']:.1f} s")
        soon = [outage for outage in found if outage["after"] is not None and outage["after"] <= rooms.LIMIT]
        parts = []
        for sort in rooms.SORTS:
            times = [outage["after"] for outage in soon if outage["sort"] == sort]
            of_sort = sum(len(job.arguments["seconds"]) for job in jobs if job.arguments["sort"] == sort)
            if of_sort:
                longest = f", longest {max(times):.1f} s" if times else ""
                parts.append(f"{sort} {len(times)} of {of_sort}{longest}")
        text = f"{len(soon)} of {of}: {'; '.join(parts)}"
        if failures:
            raise Failure(f"{text}; not: " + "; ".join(failures[:3]) + (" …" if len(failures) > 3 else ""))
        return f"{text}; median {statistics.median(outage['after'] for outage in found):.1f} s"


CHECKS = [
    Survival("idle", False, False), Survival("busy", True, False),
    Survival("idle-old-kernel", False, True), Survival("busy-old-kernel", True, True),
    Death("death", "both ends notice within 13 s that the network does not come back"),
    Cost("cost", "an idle link costs little"),
    Datagrams("datagrams", "while UDP is dropped, the API says up for at most 2 s; 5 s after that both ends are up again"),
    Uplinks("uplinks", "no slow uplink is taken for a dead one, however much is sent"),
    Small("small-paths", "on a path that swallows large packets a link, a file and a stream arrive"),
    Loss("loss", "with 30 % loss no link ends where plain TCP connections do not"),
    Descriptors("descriptors", "a peer without descriptors lives, says so, and works again afterwards"),
    *(Rooms(program, size) for program in rooms.PROGRAMS for size in (2, 4)),
]

"""credit.json: the cost of messages, and the credit for them, chapter 8."""

from .wire import LIMIT, Refused, document, test

COST = LIMIT["messageOverhead"]


class Receiver:
    """Counts what was received and what was taken; returns after each step the CREDIT that is due, if any."""

    def __init__(self, window):
        self.window, self.granted, self.spent, self.taken, self.reassembling, self.waiting = window, window, 0, 0, 0, []

    def receive(self, kind, length):
        cost = length + COST
        if self.spent + cost > self.granted:
            raise Refused("FLOW", "credit-limit")
        self.spent += cost
        self.reassembling += cost
        if kind == "MSG":
            self.waiting.append(self.reassembling)
            self.reassembling = 0

    def take(self, count):
        self.taken += sum(self.waiting[:count])
        del self.waiting[:count]

    def due(self):
        limit = self.taken + self.reassembling + self.window
        if limit - self.granted >= max(self.window // 4, 1):
            self.granted = limit
            return limit
        return None


class Sender:
    def __init__(self, limit):
        self.limit, self.spent = limit, 0

    def grant(self, limit):
        if limit <= self.limit:
            raise Refused("PROTOCOL", "credit-grow")
        self.limit = limit

    def spend(self, length):
        if self.spent + length + COST > self.limit:
            return False
        self.spent += length + COST
        return True


def build():
    receiving, sending = [], []

    def receive(id, comment, flags, window, steps, expect=None):
        receiver, told, verdict = Receiver(window), [], None
        for step in steps:
            step = dict(step)
            told.append(step)
            try:
                if step["do"] == "take":
                    receiver.take(step["messages"])
                else:
                    receiver.receive(step["do"], step["length"])
            except Refused as refused:
                step["error"], verdict = refused.code, refused
                break
            step["credit"] = receiver.due()
        assert (verdict.code if verdict else None) == expect and len(told) == len(steps), (id, told)
        fields = dict(messageCredit=window, steps=told, spent=receiver.spent, limit=receiver.granted)
        fields.update(dict(result="invalid", error=verdict.code, check=verdict.check) if verdict
                      else dict(result="valid"))
        receiving.append(test(id, comment, flags, **fields))

    def send(id, comment, flags, limit, steps, expect=None):
        sender, told, verdict = Sender(limit), [], None
        for step in steps:
            step = dict(step)
            told.append(step)
            try:
                if step["do"] == "grant":
                    sender.grant(step["limit"])
                else:
                    step["allowed"] = sender.spend(step["length"])
            except Refused as refused:
                step["error"], verdict = refused.code, refused
                break
            step["left"] = sender.limit - sender.spent
        assert (verdict.code if verdict else None) == expect and len(told) == len(steps), (id, told)
        fields = dict(initialLimit=limit, steps=told, spent=sender.spent, limit=sender.limit)
        fields.update(dict(result="invalid", error=verdict.code, check=verdict.check) if verdict
                      else dict(result="valid"))
        sending.append(test(id, comment, flags, **fields))

    msg = lambda length: dict(do="MSG", length=length)
    part = lambda length: dict(do="MSG_PART", length=length)
    take = lambda messages=1: dict(do="take", messages=messages)
    spend = lambda length: dict(do="spend", length=length)
    grant = lambda limit: dict(do="grant", limit=limit)
    usual, window = LIMIT["messageCredit"], 65536

    receive("cost-of-empty", "an empty message costs 64", ["Cost"], window, [msg(0)])
    receive("cost-of-one", "a message of one byte costs 65", ["Cost"], window, [msg(1)])
    receive("cost-of-parts", "every part costs 64 too", ["Cost"], window, [part(1024), part(1024), msg(0)])
    receive("not-taken", "messages that are not taken return no credit", ["Return"], window, [msg(20000), msg(20000)])
    receive("taken-small", "too little was taken for a CREDIT", ["Return"], window, [msg(16000), take()])
    receive("taken-quarter", "a quarter of the window is enough", ["Return"], window, [msg(16384 - COST), take()])
    receive("taken-one-below", "one byte less is not enough", ["Return"], window, [msg(16383 - COST), take()])
    receive("taken-adds-up", "small amounts add up", ["Return"], window,
            [msg(6000), take(), msg(6000), take(), msg(6000), take()])
    receive("taken-in-order", "messages are returned as they are taken", ["Return"], window,
            [msg(10000), msg(30000), take(), take()])
    receive("taken-together", "two taken at once cause one CREDIT", ["Return"], window, [msg(10000), msg(30000), take(2)])
    receive("parts-return-at-once", "a message in reassembly returns credit without being taken", ["Return"], window,
            [part(20000), part(20000), part(20000), msg(20000), take()])
    receive("complete-shrinks-nothing", "a complete message that is not taken does not lower the limit", ["Return"], window,
            [part(32768), msg(0), msg(1000)])
    receive("long-message", "a message longer than the window arrives", ["Return"], window,
            [part(32768)] * 6 + [msg(32768), take()])
    receive("exactly-spent", "the whole window is spent", ["Limit"], window, [msg(window - COST)])
    receive("exactly-spent-in-two", "the whole window in two messages", ["Limit"], window,
            [msg(32768 - COST), msg(32768 - COST)])
    receive("usual-window", "the default of 4 MiB", ["Limit"], usual, [msg(65536)] * 8 + [take(8)])
    receive("window-65", "a window of one message of one byte", ["Limit"], 65, [msg(0), take()])
    receive("empty-messages-fill", "empty messages fill a window too", ["Cost"], 640, [msg(0)] * 10)
    receive("one-over", "one byte beyond the window", ["Limit"], window, [msg(window - COST + 1)], "FLOW")
    receive("overhead-over", "the 64 bytes alone exceed the window", ["Cost"], window, [msg(window - COST), msg(0)], "FLOW")
    receive("empty-messages-over", "an eleventh empty message", ["Cost"], 640, [msg(0)] * 11, "FLOW")
    receive("over-after-take", "less than a quarter is not returned yet", ["Limit"], window,
            [msg(16000), take(), msg(window - 16000 - COST)], "FLOW")
    receive("complete-then-over", "complete messages count until they are taken", ["Limit"], window,
            [part(32768), msg(0), msg(65000), msg(1000)], "FLOW")

    send("spend-exactly", "the limit itself may be reached", ["Spend"], window, [spend(window - COST), spend(0)])
    send("spend-one-over", "one byte more must wait", ["Spend"], window, [spend(window - COST + 1), spend(window - COST)])
    send("grant-absolute", "a limit counts from the beginning of the link", ["Grant"], window,
         [spend(60000), grant(window + 20000), spend(20000), spend(5000)])
    send("grant-one", "an increase by one counts", ["Grant"], window, [grant(window + 1), spend(window - COST + 1)])
    send("grant-largest", "a limit of 2⁶³ − 1; larger ones are possible, too", ["Grant"], window, [grant(2 ** 63 - 1), spend(window)])
    send("grant-twice", "each is higher than the last", ["Grant"], window,
         [grant(80000), grant(90000), spend(90000 - COST)])
    send("limit-zero", "a receiver may begin without credit", ["Spend"], 0, [spend(0), grant(64), spend(0)])
    send("grant-equal", "the same limit again", ["Grant"], window, [grant(window)], "PROTOCOL")
    send("grant-lower", "a lower limit", ["Grant"], window, [grant(window - 1)], "PROTOCOL")
    send("grant-zero", "limit 0", ["Grant"], window, [grant(0)], "PROTOCOL")
    send("grant-equal-later", "the same limit twice, with traffic in between", ["Grant"], window,
         [grant(80000), spend(1000), grant(80000)], "PROTOCOL")
    send("grant-relative", "an increment instead of a total", ["Grant"], window, [spend(60000), grant(60064)],
         "PROTOCOL")
    notes = {"Cost": "each frame costs its payload plus 64 bytes",
             "Return": "what raises the limit, and when CREDIT is sent",
             "Limit": "nothing is sent beyond the limit", "Spend": "when the sender must wait",
             "Grant": "a limit is absolute and grows"}
    return document("message credit", notes, [
        dict(type="credit-receiver", spec="8", labels=["msg.cost", "msg.credit-limit", "msg.credit-return"],
             tests=receiving),
        dict(type="credit-sender", spec="8", labels=["msg.cost", "msg.credit-limit", "msg.credit-grow"], tests=sending)])

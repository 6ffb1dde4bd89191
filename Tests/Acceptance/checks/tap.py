"""Captures all packets on lo with a packet socket, only inside the network namespace of a check."""

import socket
import struct
import threading

from .network import Skipped

SOL_PACKET, PACKET_STATISTICS, OUTGOING, IPV4, UDP, TCP = 263, 6, 4, 0x0800, 17, 6


class Tap:
    """`flows` holds, for each protocol, address and port at both ends, the bytes in the order in which they passed."""

    def __init__(self):
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.socket.bind(("lo", 3))
        except OSError as error:
            raise Skipped(f"no packet socket: {error}") from error
        # A large buffer, so that no packet is missed; root may exceed the system's limit.
        for option in (33, socket.SO_RCVBUF):
            try:
                self.socket.setsockopt(socket.SOL_SOCKET, option, 256 << 20)
                break
            except OSError:
                continue
        self.socket.settimeout(0.2)
        self.flows = {}
        self.packets = 0
        self.is_closing = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            try:
                frame, address = self.socket.recvfrom(1 << 17)
            except TimeoutError:
                if self.is_closing:
                    return
                continue
            # Each packet passes lo twice, on its way out and on its way in.
            if address[2] == OUTGOING and address[1] == IPV4:
                self._take(frame[14:])

    def _take(self, packet):
        header = (packet[0] & 15) * 4
        total, protocol = struct.unpack_from("!2xH5xB", packet)
        total = total or len(packet)
        if protocol not in (TCP, UDP):
            return
        ports = struct.unpack_from("!HH", packet, header)
        start = header + (8 if protocol == UDP else (packet[header + 12] >> 4) * 4)
        payload = packet[start:max(start, total)]
        if payload:
            self.packets += 1
            key = (protocol, packet[12:16], ports[0], packet[16:20], ports[1])
            self.flows.setdefault(key, []).append(payload)

    def close(self):
        """Returns how many packets were missed."""
        self.is_closing = True
        self.thread.join()
        _, dropped = struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        self.socket.close()
        return dropped

    def bytes(self, protocol):
        return sum(len(part) for key, parts in self.flows.items() if key[0] == protocol for part in parts)

    def contains(self, needle):
        return any(needle in b"".join(parts) for parts in self.flows.values())

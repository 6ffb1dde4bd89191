"""Captures every frame that passes the switch with packet sockets, only inside the network namespace of a check."""

import socket
import struct
import threading
import time

IPV4, IPV6, UDP, TCP = 0x0800, 0x86DD, 17, 6


class Packet:
    """One IP packet: `at` is when it passed, in seconds."""

    def __init__(self, at, frame):
        self.at = at
        self.protocol = None
        kind, packet = struct.unpack_from("!H", frame, 12)[0], frame[14:]
        if kind == IPV4:
            header = (packet[0] & 15) * 4
            total, self.lifetime, self.protocol = struct.unpack_from("!2xH4xBB", packet)
            self.source, self.target = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
            self.is_part = struct.unpack_from("!H", packet, 6)[0] & 0x3FFF != 0
            packet = packet[:total]
        elif kind == IPV6:
            header, self.protocol, self.lifetime = 40, packet[6], packet[7]
            self.source = socket.inet_ntop(socket.AF_INET6, packet[8:24])
            self.target = socket.inet_ntop(socket.AF_INET6, packet[24:40])
            self.is_part = self.protocol == 44
            packet = packet[:40 + struct.unpack_from("!H", packet, 4)[0]]
        else:
            return
        self.length = len(packet)
        if self.protocol not in (UDP, TCP) or self.is_part:
            return
        self.source_port, self.target_port = struct.unpack_from("!HH", packet, header)
        if self.protocol == TCP:
            self.sequence = struct.unpack_from("!I", packet, header + 4)[0]
        self.payload = packet[header + (8 if self.protocol == UDP else (packet[header + 12] >> 4) * 4):]


class Tap:
    """The packets that enter at the ports of a switch, each once."""

    def __init__(self, ports):
        self.packets = []
        self.is_closing = False
        self.threads = []
        for port in ports:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            end.bind((port, 3))
            end.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
            end.settimeout(0.2)
            self.threads.append(threading.Thread(target=self._read, args=(end,), daemon=True))
            self.threads[-1].start()

    def _read(self, end):
        while True:
            try:
                frame, address = end.recvfrom(1 << 17)
            except TimeoutError:
                if self.is_closing:
                    end.close()
                    return
                continue
            # A frame that leaves at a port has entered at another.
            if address[2] != 4:
                self.packets.append(Packet(time.monotonic(), frame))

    def close(self):
        self.is_closing = True
        for thread in self.threads:
            thread.join()
        return self.packets

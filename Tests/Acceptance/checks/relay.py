"""A tap in the path: forwards every connection to a port, and records the bytes."""

import socket
import threading


class Relay:
    def __init__(self, target):
        self.target = target
        self.flows = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        self.sockets.append(self.listener)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                dialler, _ = self.listener.accept()
            except OSError:
                return
            flow = (bytearray(), bytearray())
            self.flows.append(flow)
            try:
                onward = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                dialler.close()
                continue
            onward.settimeout(None)
            self.sockets += [dialler, onward]
            for source, sink, record in [(dialler, onward, flow[0]), (onward, dialler, flow[1])]:
                threading.Thread(target=self._pass_on, args=(source, sink, record), daemon=True).start()

    @staticmethod
    def _pass_on(source, sink, record):
        try:
            while data := source.recv(65_536):
                record += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        for end in self.sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

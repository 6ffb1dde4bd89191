"""Run by a Python that has `zeroconf`: browses, or publishes until its input ends; a JSON object a line.

    zeroconf_peer.py browse TYPE | publish NAME TYPE PORT HOST ADDRESS[,ADDRESS] KEY=VALUE… | resolve NAME TYPE
"""

import json
import socket
import sys

from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Told(ServiceListener):
    def add_service(self, zc, type_, name):
        self._say("found", zc, type_, name)

    def update_service(self, zc, type_, name):
        self._say("updated", zc, type_, name)

    def remove_service(self, _zc, type_, name):
        tell("lost", name=name.removesuffix("." + type_))

    @staticmethod
    def _say(event, zc, type_, name):
        info = zc.get_service_info(type_, name, 3000)
        if info is None:
            tell("unresolved", name=name)
            return
        text = {key.decode(): None if value is None else value.decode() for key, value in info.properties.items()}
        tell(event, name=name.removesuffix("." + type_), host=info.server, port=info.port,
             addresses=info.parsed_scoped_addresses(), text=text)


def main(words):
    command, *rest = words
    zc = Zeroconf(ip_version=IPVersion.All)
    if command == "browse":
        ServiceBrowser(zc, f"_{rest[0]}._tcp.local.", Told())
        tell("browsing")
    elif command == "publish":
        name, service, port, host, addresses, *texts = rest
        kind = f"_{service}._tcp.local."
        packed = [socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
                  for address in addresses.split(",")]
        info = ServiceInfo(kind, f"{name}.{kind}", port=int(port), addresses=packed, server=f"{host}.local.",
                           properties=dict(text.split("=", 1) for text in texts))
        zc.register_service(info, allow_name_change=True)
        tell("published", name=info.name.removesuffix("." + kind))
    elif command == "resolve":
        name, service = rest
        kind = f"_{service}._tcp.local."
        Told._say("found", zc, kind, f"{name}.{kind}")
    sys.stdin.read()
    zc.close()
    tell("closed")


main(sys.argv[1:])

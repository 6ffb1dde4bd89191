"""Run by a Python that has `dns`: queries as RFC 6762, section 6.7, allows to resolvers that know only DNS.

    legacy_resolver.py OWN-ADDRESS TYPE
"""

import socket
import sys
import time

import dns.flags
import dns.message
import dns.name
import dns.rdatatype

GROUP = ("224.0.0.251", 5353)


def ask(name, kind, number):
    """Returns the answer to one question from a port other than 5353; asks up to three times."""
    question = dns.message.make_query(name, kind, id=number)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind((OWN, 0))
        end.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(OWN))
        end.settimeout(1.5)
        for _ in range(3):
            end.sendto(question.to_wire(), GROUP)
            try:
                data, source = end.recvfrom(9000)
            except TimeoutError:
                continue
            assert source[1] == 5353, f"the answer came from port {source[1]}"
            answer = dns.message.from_wire(data)
            assert answer.id == number, f"the id is {answer.id}"
            assert [(q.name, q.rdtype) for q in answer.question] == [(dns.name.from_text(name) if isinstance(name, str)
                                                                      else name, kind)], "the question is not repeated"
            assert answer.flags & dns.flags.QR and answer.flags & dns.flags.AA, "not an authoritative response"
            for record in answer.answer + answer.additional:
                assert record.ttl <= 10, f"{record.name} lives {record.ttl} s"
                assert record.rdclass == 1, f"{record.name} has the class {record.rdclass}"
            return answer
    raise AssertionError(f"no answer for {name}")


OWN, SERVICE = sys.argv[1:]
time.sleep(1)
pointers = ask(f"_{SERVICE}._tcp.local.", dns.rdatatype.PTR, 4711)
instance = pointers.answer[0][0].target
service = ask(instance, dns.rdatatype.SRV, 4712).answer[0][0]
text = ask(instance, dns.rdatatype.TXT, 4713).answer[0][0]
assert text.strings[0] == b"mpc=1", text.strings
address = ask(service.target, dns.rdatatype.A, 4714).answer[0][0].address
meta = ask("_services._dns-sd._udp.local.", dns.rdatatype.PTR, 4715)
assert dns.name.from_text(f"_{SERVICE}._tcp.local.") in [one.target for rrset in meta.answer for one in rrset]
nothing = ask(instance, dns.rdatatype.A, 4716)
denial = [one for rrset in nothing.answer + nothing.additional if rrset.rdtype == dns.rdatatype.NSEC for one in rrset]
assert denial and denial[0].next == instance, f"no NSEC for a missing type: {nothing.answer}"
print(f"{service.target} port {service.port}, {address}, {len(text.strings)} strings, NSEC read")

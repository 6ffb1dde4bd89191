import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.3 Messages of others", .computing)
struct CapturedTests {
    @Test(
        "messages of other implementations are read, and mean the same when written",
        arguments: Captured.all)
    func roundTrip(_ captured: Captured) throws {
        let message = try read(captured.bytes).get()
        #expect(try read(try message.encoded()).get() == message)
        #expect(try read(try message.encoded(legacy: true)).get() == message)
        #expect(try read(try message.encoded(compressing: false)).get() == message)
        #expect(message.encodedCount <= captured.bytes.count, "no longer than theirs")
    }

    @Test("zeroconf compresses in the same way, to the byte")
    func bytes() throws {
        for captured in Captured.all.prefix(4) {
            #expect(
                try read(captured.bytes).get().encoded() == captured.bytes, "\(captured.testDescription)"
            )
        }
    }

    @Test("an announcement of zeroconf has the records that it was given")
    func announcement() throws {
        let message = try read(Captured.all[1].bytes).get()
        // Its label was to be "Bär v1.2 “x”": it treats a dot as the end of a label.
        let instance: DNSName = "Bär v1.2 “x”._chat._tcp.local"
        let host: DNSName = "host-zc.local"
        let strings = ["mpc=1", "n=Bär", "flag", "empty="].flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        #expect(message.isResponse && message.isAuthoritative && message.questions.isEmpty)
        #expect(
            message.answers == [
                DNSRecord("_chat._tcp.local", ttl: 4_500, .ptr(instance)),
                DNSRecord(
                    instance, isCacheFlush: true, ttl: 120,
                    .srv(priority: 0, weight: 0, port: 4_242, target: host)),
                DNSRecord(instance, isCacheFlush: true, ttl: 4_500, .txt(strings)),
                DNSRecord(host, isCacheFlush: true, ttl: 120, .nsec(next: host, types: [1])),
                DNSRecord(host, isCacheFlush: true, ttl: 120, .a([127, 0, 0, 1])),
            ])
    }

    @Test("a probe of avahi queries any type, and proposes its records")
    func probe() throws {
        let message = try read(Captured.all[4].bytes).get()
        let instance = try DNSName("_chat._tcp.local").child(Array("Ann's chat".utf8))
        #expect(message.questions == [DNSQuestion(instance, .any)])
        #expect(
            message.authorities == [
                DNSRecord(
                    instance, ttl: 120, .srv(priority: 0, weight: 0, port: 4_343, target: "avahi-host.local")),
                DNSRecord(instance, ttl: 4_500, .txt(hex("056d70633d31056e3d416e6e"))),
            ])
    }

    @Test(
        "the example of RFC 1035, 4.1.4 is read: a name, one that ends with it, its suffix, and the root"
    )
    func standard() throws {
        var packet = Packet(questions: 4)
        packet.add(labels: ["F", "ISI", "ARPA"])
        packet.bytes.append(0)
        packet.endQuestion()
        packet.add(labels: ["FOO"])
        packet.add(pointer: 12)
        packet.endQuestion()
        packet.add(pointer: 18)
        packet.endQuestion()
        packet.bytes.append(0)
        packet.endQuestion()
        let names = try packet.message.get().questions.map(\.name.description)
        #expect(names == ["F.ISI.ARPA", "FOO.F.ISI.ARPA", "ARPA", "."])
    }
}

import MultipeerTransport
import TestSupport
import Testing

@Suite("Socket addresses", .computing)
struct SocketAddressTests {
    @Test(
        "an address survives a round trip through its text",
        arguments: ["127.0.0.1:80", "[::1]:65535", "[fe80::1%7]:1024", "0.0.0.0:0", "[2001:db8::5:0:1]:443"])
    func roundTrip(_ text: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.description == text)
        #expect(
            SocketAddress.Host(bytes: address.host.bytes)?.on(interface: 7) == address.host.on(interface: 7))
    }

    @Test(
        "texts without an address and a port are refused",
        arguments: [
            "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
            "[127.0.0.1]:1",
            "::1:80", "[::1]", "[]:80", "[::1%]:80", "[::1%no-such-interface]:80", "1.2.3:4", "a.b:1",
            "1.2.3.4:٣",
        ])
    func refusal(_ text: String) { #expect(SocketAddress(text) == nil) }

    @Test("the system's form has port and address in network byte order, and is read at any alignment")
    func systemForm() {
        let four = SocketAddress(.v4(0x0102_0304), port: 0x1F90)
        let six = SocketAddress(
            .v6(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10, scope: 3), port: 0x1F90)
        for (address, place, host) in [(four, 4, 1...4), (six, 8, 1...16)]
            as [(SocketAddress, Int, ClosedRange<UInt8>)]
        {
            let bytes = unsafe address.withSystemAddress { pointer, length in
                unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: Int(length)))
            }
            #expect(bytes[2..<4] == [0x1F, 0x90])
            #expect(bytes[place..<(place + host.count)] == Array(host)[...])
            for offset in 0..<8 {
                let moved = [UInt8](repeating: 0xff, count: offset) + bytes
                let read = unsafe moved.withUnsafeBytes { raw in
                    unsafe raw.baseAddress.flatMap { unsafe SocketAddress(bytes: $0 + offset) }
                }
                #expect(read == address)
            }
        }
    }

    @Test("an interface is found by its name")
    func scope() throws {
        let loopback = try #require(try NetworkInterface.all().first { $0.isLoopback })
        let host = try #require(SocketAddress("[fe80::1%\(loopback.name)]:1024")?.host)
        #expect(host == .v6(high: 0xfe80_0000_0000_0000, low: 1, scope: loopback.index))
    }

    @Test(
        "addresses that must not be dialled are recognised, even when they are mapped",
        arguments: [
            ("0.0.0.0", "unspecified"), ("0.1.2.3", "unspecified"), ("::", "unspecified"),
            ("::ffff:0.0.0.0", "unspecified"), ("127.8.9.1", "loopback"), ("::1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"), ("169.254.3.4", "link-local"), ("fe80::1", "link-local"),
            ("febf::1", "link-local"), ("fec0::1", ""), ("224.0.0.251", "multicast"),
            ("239.255.255.255", "multicast"), ("ff02::fb", "multicast"), ("255.255.255.255", "broadcast"),
            ("::ffff:255.255.255.255", "broadcast"), ("10.0.0.1", ""), ("2001:db8::1", ""),
        ])
    func classes(_ text: String, _ kind: String) throws {
        let host = try #require(SocketAddress.Host(text))
        #expect(host.isUnspecified == (kind == "unspecified"))
        #expect(host.isLoopback == (kind == "loopback"))
        #expect(host.isLinkLocal == (kind == "link-local"))
        #expect(host.isMulticast == (kind == "multicast"))
        #expect(host.isBroadcast == (kind == "broadcast"))
    }
}

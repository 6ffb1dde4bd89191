import MultipeerFraming

/// One message of the kernel about the network interfaces (rtnetlink(7)).
///
/// Reading accepts any bytes: a truncated message ends it, and unknown ones are skipped.
package enum NetlinkMessage: Hashable, Sendable {
    case link(Link)
    case linkGone(UInt32)
    case address(Address)
    case addressGone(Address)
    /// The end of a list, which is whole or was interrupted by changes.
    case done(isWhole: Bool)
    /// The kernel refused a request, with this value of `errno`.
    case failed(Int32)

    package struct Link: Hashable, Sendable {
        package let index: UInt32
        package let flags: UInt32
        package let name: String
        /// 0 when it was not given.
        package let mtu: UInt32

        package init(index: UInt32, flags: UInt32, name: String, mtu: UInt32) {
            (self.index, self.flags, self.name, self.mtu) = (index, flags, name, mtu)
        }
    }

    package struct Address: Hashable, Sendable {
        package let index: UInt32
        package let host: SocketAddress.Host
        package let prefix: UInt8
        package let flags: UInt32

        package init(index: UInt32, host: SocketAddress.Host, prefix: UInt8, flags: UInt32 = 0) {
            (self.index, self.host, self.prefix, self.flags) = (index, host, prefix, flags)
        }
    }
}

// MARK: - Reading

extension NetlinkMessage {
    /// Returns all messages of one datagram, in order.
    package static func read(_ bytes: Span<UInt8>) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = bytes
        while let header = Header(rest) {
            // Safe: a header is only read when its length is within the rest.
            let body = rest.extracting(Header.byteCount..<header.length)
            if let message = NetlinkMessage(header, body) { messages.append(message) }
            rest = rest.extracting(droppingFirst: min(aligned(header.length), rest.count))
        }
        return messages
    }

    private init?(_ header: Header, _ body: Span<UInt8>) {
        switch header.kind {
        case Header.done: self = .done(isWhole: header.flags & Header.interrupted == 0)
        case Header.error:
            guard let code = body.number(at: 0, UInt32.self), code != 0 else { return nil }
            self = .failed(0 &- Int32(bitPattern: code))
        case Header.newLink:
            guard let link = Link(body) else { return nil }
            self = .link(link)
        case Header.deleteLink:
            guard let link = Link(body) else { return nil }
            self = .linkGone(link.index)
        case Header.newAddress, Header.deleteAddress:
            guard let address = Address(body) else { return nil }
            self = header.kind == Header.newAddress ? .address(address) : .addressGone(address)
        default: return nil
        }
    }

    fileprivate static func aligned(_ count: Int) -> Int { (count + 3) & ~3 }

    /// `struct nlmsghdr`.
    fileprivate struct Header {
        static let byteCount = 16
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let deleteLink: UInt16 = 17
        static let newAddress: UInt16 = 20
        static let deleteAddress: UInt16 = 21
        /// `NLM_F_DUMP_INTR`: the list changed while it was being sent.
        static let interrupted: UInt16 = 0x10

        let length: Int
        let kind: UInt16
        let flags: UInt16

        /// Returns nil unless the whole message is present.
        init?(_ bytes: Span<UInt8>) {
            guard let length = bytes.number(at: 0, UInt32.self), let kind = bytes.number(at: 4, UInt16.self),
                let flags = bytes.number(at: 6, UInt16.self),
                let count = Int(exactly: length), count >= Header.byteCount, count <= bytes.count
            else { return nil }
            (self.length, self.kind, self.flags) = (count, kind, flags)
        }
    }
}

extension NetlinkMessage.Link {
    private static let byteCount = 16
    private static let nameAttribute: UInt16 = 3
    private static let mtuAttribute: UInt16 = 4

    /// `struct ifinfomsg` and its attributes. Nil also for messages of an address family or a bridge about their part.
    fileprivate init?(_ body: Span<UInt8>) {
        guard body.number(at: 0, UInt8.self) == 0, body.count >= Self.byteCount,
            let index = body.number(at: 4, UInt32.self), let flags = body.number(at: 8, UInt32.self),
            index > 0
        else { return nil }
        var (name, mtu) = ("", UInt32(0))
        body.forEachAttribute(from: Self.byteCount) { kind, value in
            switch kind {
            case Self.nameAttribute: name = value.text
            case Self.mtuAttribute: mtu = value.number(at: 0, UInt32.self) ?? 0
            default: break
            }
        }
        self.init(index: index, flags: flags, name: name, mtu: mtu)
    }
}

extension NetlinkMessage.Address {
    private static let byteCount = 8
    private static let v4: UInt8 = 2
    private static let v6: UInt8 = 10
    private static let addressAttribute: UInt16 = 1
    private static let localAttribute: UInt16 = 2
    private static let flagsAttribute: UInt16 = 8

    /// `struct ifaddrmsg` and its attributes. Of two addresses, the local one is ours.
    fileprivate init?(_ body: Span<UInt8>) {
        guard let family = body.number(at: 0, UInt8.self), family == Self.v4 || family == Self.v6,
            let prefix = body.number(at: 1, UInt8.self), let shortFlags = body.number(at: 2, UInt8.self),
            let index = body.number(at: 4, UInt32.self), index > 0
        else { return nil }
        var (flags, address, local) = (UInt32(shortFlags), [UInt8](), [UInt8]())
        let count = family == Self.v4 ? 4 : 16
        body.forEachAttribute(from: Self.byteCount) { kind, value in
            switch kind {
            case Self.addressAttribute where value.count == count: address = [UInt8](copying: value)
            case Self.localAttribute where value.count == count: local = [UInt8](copying: value)
            case Self.flagsAttribute: flags = value.number(at: 0, UInt32.self) ?? flags
            default: break
            }
        }
        let bytes = local.isEmpty ? address : local
        guard prefix <= 8 * count, let host = SocketAddress.Host(bytes: bytes) else { return nil }
        let isLinkLocal = family == Self.v6 && host.isLinkLocal
        self.init(
            index: index, host: isLinkLocal ? host.on(interface: index) : host, prefix: prefix, flags: flags)
    }
}

extension Span<UInt8> {
    /// Reads a number in host byte order, as netlink has it; nil when it is truncated.
    fileprivate func number<Number: FixedWidthInteger & UnsignedInteger>(
        at start: Int, _: Number.Type
    ) -> Number? {
        let size = Number.bitWidth / 8
        guard start >= 0, start <= count - size else { return nil }
        var number: Number = 0
        for index in 0..<size { number = number << 8 | Number(self[start + index]) }
        return Number(bigEndian: 1) == 1 ? number : number.byteSwapped
    }

    /// The text before the first zero byte.
    fileprivate var text: String {
        var bytes: [UInt8] = []
        for index in indices {
            if self[index] == 0 { break }
            bytes.append(self[index])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `body` for each consecutive `struct rtattr`, until one is truncated.
    fileprivate func forEachAttribute(from start: Int, _ body: (UInt16, Span<UInt8>) -> Void) {
        let header = 4
        var place = start
        while let length = number(at: place, UInt16.self), let kind = number(at: place + 2, UInt16.self) {
            let end = place + Int(length)
            guard length >= header, end <= count else { return }
            // The highest two bits are flags about the value.
            body(kind & 0x3fff, extracting(place + header..<end))
            place += NetlinkMessage.aligned(Int(length))
        }
    }
}

// MARK: - Asking

extension NetlinkMessage {
    /// Returns a request for all entries of a kind: `struct nlmsghdr` and, in a form that both kinds accept, a zeroed
    /// `ifinfomsg`.
    package static func request(_ kind: UInt16) -> [UInt8] {
        let (count, requestAndDump) = (UInt32(32), UInt16(0x301))
        var bytes: [UInt8] = []
        func append<Number: FixedWidthInteger>(_ number: Number) {
            unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
        }
        append(count)
        append(kind)
        append(requestAndDump)
        return bytes + [UInt8](repeating: 0, count: Int(count) - bytes.count)
    }
}

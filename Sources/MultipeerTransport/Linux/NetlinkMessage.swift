#if os(Linux) || os(Android)
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

        package typealias Link = InterfaceTable.Link
        package typealias Address = InterfaceTable.Address
    }

    extension InterfaceTable {
        package mutating func apply(_ message: NetlinkMessage) {
            switch message {
            case .link(let link): set(link)
            case .linkGone(let index): removeLink(index)
            case .address(let address): set(address)
            case .addressGone(let address): remove(address)
            case .done, .failed: break
            }
        }
    }

    /// Which byte of a number is first in memory.
    package enum ByteOrder: CaseIterable, Sendable {
        case big, little

        /// That of this machine.
        package static var host: ByteOrder { 1.bigEndian == 1 ? .big : .little }
    }

    // MARK: - Reading

    extension NetlinkMessage {
        /// Returns all messages of one datagram, in order.
        package static func read(
            _ bytes: Span<UInt8>, order: ByteOrder = .host
        ) -> [NetlinkMessage] {
            var messages: [NetlinkMessage] = []
            var rest = bytes
            while let header = Header(rest, order) {
                // Safe: a header is only read when its length is within the rest.
                let body = rest.extracting(Header.byteCount..<header.length)
                if let message = NetlinkMessage(header, body, order) { messages.append(message) }
                rest = rest.extracting(droppingFirst: min(aligned(header.length), rest.count))
            }
            return messages
        }

        private init?(_ header: Header, _ body: Span<UInt8>, _ order: ByteOrder) {
            switch header.kind {
            case Header.done: self = .done(isWhole: header.flags & Header.interrupted == 0)
            case Header.error:
                guard let code = body.number(at: 0, UInt32.self, order), code != 0 else { return nil }
                self = .failed(0 &- Int32(bitPattern: code))
            case Header.newLink:
                guard let link = Link(body, order) else { return nil }
                self = .link(link)
            case Header.deleteLink:
                guard let link = Link(body, order) else { return nil }
                self = .linkGone(link.index)
            case Header.newAddress, Header.deleteAddress:
                guard let address = Address(body, order) else { return nil }
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
            init?(_ bytes: Span<UInt8>, _ order: ByteOrder) {
                guard let length = bytes.number(at: 0, UInt32.self, order),
                    let kind = bytes.number(at: 4, UInt16.self, order),
                    let flags = bytes.number(at: 6, UInt16.self, order),
                    let count = Int(exactly: length), count >= Header.byteCount, count <= bytes.count
                else { return nil }
                (self.length, self.kind, self.flags) = (count, kind, flags)
            }
        }
    }

    extension InterfaceTable.Link {
        private static let byteCount = 16
        private static let nameAttribute: UInt16 = 3
        private static let mtuAttribute: UInt16 = 4

        /// `struct ifinfomsg` and its attributes. Nil also for messages of an address family or a bridge about their part.
        fileprivate init?(_ body: Span<UInt8>, _ order: ByteOrder) {
            guard body.number(at: 0, UInt8.self, order) == 0, body.count >= Self.byteCount,
                let index = body.number(at: 4, UInt32.self, order),
                let flags = body.number(at: 8, UInt32.self, order),
                index > 0
            else { return nil }
            var (name, mtu) = ("", UInt32(0))
            body.forEachAttribute(from: Self.byteCount, order) { kind, value in
                switch kind {
                case Self.nameAttribute: name = value.text
                case Self.mtuAttribute: mtu = value.number(at: 0, UInt32.self, order) ?? 0
                default: break
                }
            }
            self.init(index: index, flags: flags, name: name, mtu: mtu)
        }
    }

    extension InterfaceTable.Address {
        private static let byteCount = 8
        private static let v4: UInt8 = 2
        private static let v6: UInt8 = 10
        private static let addressAttribute: UInt16 = 1
        private static let localAttribute: UInt16 = 2
        private static let flagsAttribute: UInt16 = 8

        /// `struct ifaddrmsg` and its attributes. Of two addresses, the local one is ours.
        fileprivate init?(_ body: Span<UInt8>, _ order: ByteOrder) {
            guard let family = body.number(at: 0, UInt8.self, order), family == Self.v4 || family == Self.v6,
                let prefix = body.number(at: 1, UInt8.self, order),
                let shortFlags = body.number(at: 2, UInt8.self, order),
                let index = body.number(at: 4, UInt32.self, order), index > 0
            else { return nil }
            var (flags, address, local) = (UInt32(shortFlags), [UInt8](), [UInt8]())
            let count = family == Self.v4 ? 4 : 16
            body.forEachAttribute(from: Self.byteCount, order) { kind, value in
                switch kind {
                case Self.addressAttribute where value.count == count: address = [UInt8](copying: value)
                case Self.localAttribute where value.count == count: local = [UInt8](copying: value)
                case Self.flagsAttribute: flags = value.number(at: 0, UInt32.self, order) ?? flags
                default: break
                }
            }
            let bytes = local.isEmpty ? address : local
            guard prefix <= 8 * count, let host = SocketAddress.Host(bytes: bytes) else { return nil }
            let isLinkLocal = family == Self.v6 && host.isLinkLocal
            self.init(
                index: index, host: isLinkLocal ? host.on(interface: index) : host, prefix: prefix,
                flags: flags)
        }
    }

    extension Span<UInt8> {
        /// Reads a number in the byte order of the machine, as netlink has it; nil when it is truncated.
        fileprivate func number<Number: FixedWidthInteger & UnsignedInteger>(
            at start: Int, _: Number.Type, _ order: ByteOrder
        ) -> Number? {
            let size = Number.bitWidth / 8
            guard start >= 0, start <= count - size else { return nil }
            var number: Number = 0
            for index in 0..<size { number = number << 8 | Number(self[start + index]) }
            return order == .big ? number : number.byteSwapped
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
        fileprivate func forEachAttribute(
            from start: Int, _ order: ByteOrder, _ body: (UInt16, Span<UInt8>) -> Void
        ) {
            let header = 4
            var place = start
            while let length = number(at: place, UInt16.self, order),
                let kind = number(at: place + 2, UInt16.self, order)
            {
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
        package static func request(_ kind: UInt16, order: ByteOrder = .host) -> [UInt8] {
            let (count, requestAndDump) = (UInt32(32), UInt16(0x301))
            var bytes: [UInt8] = []
            func append<Number: FixedWidthInteger>(_ number: Number) {
                let size = Number.bitWidth / 8
                for index in 0..<size {
                    let place = order == .big ? size - 1 - index : index
                    bytes.append(UInt8(truncatingIfNeeded: number >> Number(8 * place)))
                }
            }
            append(count)
            append(kind)
            append(requestAndDump)
            return bytes + [UInt8](repeating: 0, count: Int(count) - bytes.count)
        }
    }
#endif

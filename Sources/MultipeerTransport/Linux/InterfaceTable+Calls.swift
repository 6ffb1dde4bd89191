#if os(Linux) || os(Android)
    import CPlatform
    import MultipeerCore
    import MultipeerPlatform

    /// The interfaces for a process that may not open a netlink socket, as in some sandboxes: `getifaddrs` needs one, too.
    extension InterfaceTable {
        /// What ioctl(2) and `/proc/net` have of one list. More is left out.
        private static let mostAddresses = 1_024
        private static let longestFile = 262_144

        /// Returns what ioctl(2) and `/proc/net` say. Without `/proc`, interfaces without IPv4 and addresses of IPv6 are missing.
        package static func byCalls(
            _ read: (_ name: String) -> String? = InterfaceTable.contents
        ) throws(SocketFault) -> InterfaceTable {
            var room = [multipeer_linux_address](repeating: multipeer_linux_address(), count: mostAddresses)
            let count = unsafe multipeer_linux_list_addresses(&room, Int32(mostAddresses))
            let fault = SocketFault.last
            if count < 0, fault == .tooManyFiles { throw fault }
            let found = room.prefix(Int(max(count, 0))).map { IPv4Entry($0) }
            let names = read("dev").map(InterfaceTable.names) ?? []
            if count < 0, names.isEmpty { throw fault }

            var table = InterfaceTable()
            var indices: [String: UInt32] = [:]
            for name in names + found.map(\.name) where indices[name] == nil {
                guard let link = Link(describing: name) else { continue }
                indices[name] = link.index
                table.set(link)
            }
            for entry in found {
                guard let index = indices[entry.name] else { continue }
                table.set(Address(index: index, host: .v4(entry.address), prefix: entry.prefix))
            }
            let lines = read("if_inet6")?.pieces(at: "\n") ?? []
            let known = Set(indices.values)
            for address in lines.compactMap(Address.init(line:)) where known.contains(address.index) {
                table.set(address)
            }
            return table
        }

        package static func contents(_ name: String) -> String? {
            do throws(FileFault) {
                let bytes = try PrivateFile.read("/proc/self/net/\(name)", limit: longestFile)
                return String(decoding: bytes, as: UTF8.self)
            } catch {
                return nil
            }
        }

        /// The names in `/proc/net/dev`, after the two lines of its head.
        private static func names(_ text: String) -> [String] {
            text.pieces(at: "\n").dropFirst(2).compactMap { line in
                line.pieces(at: ":").first?.pieces(at: " ").first.map(String.init)
            }
        }
    }

    private struct IPv4Entry {
        let name: String
        let address: UInt32
        let prefix: UInt8

        init(_ entry: multipeer_linux_address) {
            let label = unsafe withUnsafeBytes(of: entry.name) { unsafe Array($0.prefix { $0 != 0 }) }
            // An alias has the name of its interface first.
            name = String(decoding: label.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            address = entry.address
            prefix = UInt8(entry.mask.nonzeroBitCount)
        }
    }

    extension InterfaceTable.Link {
        /// Nil of one that has just gone.
        fileprivate init?(describing name: String) {
            var found = multipeer_linux_interface()
            guard unsafe multipeer_linux_describe_interface(name, &found) == 0, found.index > 0 else {
                return nil
            }
            self.init(index: found.index, flags: found.flags, name: name, mtu: found.mtu)
        }
    }

    extension InterfaceTable.Address {
        /// Reads a line of `/proc/net/if_inet6`: the address, then in hexadecimal digits the index of its interface, the length of
        /// the prefix, its scope and its flags, and the name.
        package init?(line: Substring) {
            let words = line.pieces(at: " ").map { Array($0.utf8) }
            guard words.count >= 5, words[0].count == 32 else { return nil }
            let numbers = words.prefix(5).dropFirst().map { String(decoding: $0, as: UTF8.self) }
                .compactMap { UInt32($0, radix: 16) }
            let digits = [0, 16].compactMap { start in
                UInt64(String(decoding: words[0][start..<start + 16], as: UTF8.self), radix: 16)
            }
            guard numbers.count == 4, digits.count == 2, numbers[0] > 0, numbers[1] <= 128 else { return nil }
            let host = SocketAddress.Host.v6(high: digits[0], low: digits[1])
            self.init(
                index: numbers[0], host: host.isLinkLocal ? host.on(interface: numbers[0]) : host,
                prefix: UInt8(numbers[1]), flags: numbers[3])
        }
    }
#endif

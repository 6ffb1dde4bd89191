package import MultipeerCommandLine
package import MultipeerEssentials

/// An address at which a peer listens, as a user gives it: an IP address or a host name, a port after it, and the peer that is
/// meant before it.
package struct PeerAddress: Equatable, Sendable {
    package enum Host: Equatable, Sendable {
        case address(SocketAddress.Host)
        case name(String)
    }

    package let host: Host
    package let port: UInt16
    /// The peer that is meant; nil for the one that is there.
    package let selector: PeerSelector?

    /// Reads `192.0.2.1`, `192.0.2.1:4761`, `[2001:db8::1]:4761` and `2001:db8::1`, and with `takesNames` `host.name` and
    /// `host:4761`: names have a dot or a port. Before any of them there may be `ann@`, `ann#1f2e@` or `#1f2e@`. Returns nil for
    /// everything else, which is the name of a peer.
    package init?(_ text: String, takesNames: Bool) {
        var rest = text[...]
        var selector: PeerSelector?
        if let mark = text.lastPosition(of: "@") {
            guard let one = PeerSelector(String(text[..<mark])) else { return nil }
            selector = one
            rest = text[text.index(after: mark)...]
        }
        self.selector = selector
        let place = String(rest)
        if let address = SocketAddress(place), address.port > 0 {
            (host, port) = (.address(address.host), address.port)
            return
        }
        let plain = place.inBrackets.map(String.init)
        if let address = SocketAddress.Host(plain ?? place), plain == nil || !address.isV4 {
            (host, port) = (.address(address), PortOption.standard)
            return
        }
        guard takesNames, let (name, number) = PeerAddress.name(place) else { return nil }
        (host, port) = (.name(name), number ?? PortOption.standard)
    }

    /// Returns why a text that was meant to be an address is none; nil for an address, and for the name of a peer.
    package static func fault(in text: String, takesNames: Bool) -> String? {
        guard PeerAddress(text, takesNames: takesNames) == nil else { return nil }
        let place = text.lastPosition(of: "@").map { String(text[text.index(after: $0)...]) } ?? text
        if let slash = place.firstPosition(of: "/"), SocketAddress.Host(String(place[..<slash])) != nil {
            return "an address has no length of a prefix, such as \(place[slash...])"
        }
        if let percent = place.firstPosition(of: "%"),
            SocketAddress.Host(String(place[..<percent]))?.isV4 == false
        {
            return "this machine has no network interface \(place[place.index(after: percent)...])"
        }
        if let colon = place.lastPosition(of: ":") {
            let (host, port) = (String(place[..<colon]), String(place[place.index(after: colon)...]))
            let inBrackets = host.inBrackets.map(String.init)
            let isAddress =
                SocketAddress.Host(inBrackets ?? host).map { $0.isV4 == (inBrackets == nil) } ?? false
            let isNumber = !port.isEmpty && port.utf8.allSatisfy { (0x30...0x39).contains($0) }
            let isHost = isAddress || takesNames && isNumber && PeerAddress.name("\(host):1") != nil
            if isHost { return "a port is a number from 1 to 65535, and not '\(port)'" }
        }
        let bytes = place.utf8
        let dots = bytes.count { $0 == UInt8(ascii: ".") }
        let digits = bytes.count { (0x30...0x39).contains($0) }
        if dots > 2, digits > 0, dots + digits == bytes.count { return "it is no IPv4 address" }
        let isHexadecimal = place.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == ":" || $0 == ".") }
        return isHexadecimal && bytes.count { $0 == UInt8(ascii: ":") } > 1 ? "it is no IPv6 address" : nil
    }

    /// Reads an address, or returns nil for the name of a peer; throws for what was meant to be an address.
    static func read(
        _ text: String, takesNames: Bool, _ arguments: Arguments
    ) throws(CommandError) -> PeerAddress? {
        if let address = PeerAddress(text, takesNames: takesNames) { return address }
        guard let fault = fault(in: text, takesNames: takesNames) else { return nil }
        throw arguments.commandError("'\(text)': \(fault)")
    }

    private static func name(_ text: String) -> (name: String, port: UInt16?)? {
        let parts = text.pieces(at: ":", keepingEmpty: true)
        guard let name = parts.first, (1...253).contains(name.utf8.count), parts.count < 3,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }),
            name.first?.isLetter == true || name.first?.isNumber == true, !name.ends(with: ".."),
            // What has only digits and dots was meant to be an address.
            name.contains(where: { $0.isLetter || $0 == "-" })
        else { return nil }
        guard parts.count == 2 else { return name.contains(".") ? (String(name), nil) : nil }
        guard let port = UInt16(parts[1]), port > 0 else { return nil }
        return (String(name), port)
    }

    /// The digits that the peer has to prove before it is sent anything.
    var prefix: UIDPrefix? { selector?.digits.flatMap(UIDPrefix.init) }

    /// Whether this peer is the one that is meant.
    func takes(_ peer: PeerID) -> Bool { selector.map { !$0.matches([peer]).isEmpty } ?? true }

    /// The text for people.
    package var text: String {
        switch host {
        case .address(let address): SocketAddress(address, port: port).description
        case .name(let name): "\(name):\(port)"
        }
    }

    private static let resolver = Worker("names")

    /// Returns the addresses of the host, as the system's resolver orders them.
    package func addresses() async throws(CommandError) -> [SocketAddress] {
        let name: String
        switch host {
        case .address(let address): return [SocketAddress(address, port: port)]
        case .name(let text): name = text
        }
        let found = try await PeerAddress.resolver.run { () throws(CommandError) in
            PeerAddress.hosts(of: name)
        }
        guard !found.isEmpty else {
            throw CommandError(
                "no address found for host '\(name)'",
                hint: "the name of a peer that has a dot is given with digits of its id: '\(name)#1f2e'",
                exit: .linkFailed)
        }
        return found.map { SocketAddress($0, port: port) }
    }

    /// Asks the system; blocks until it answers.
    private static func hosts(of name: String) -> [SocketAddress.Host] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CLibrary.streamSocket
        var first: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var found: [SocketAddress.Host] = []
        var next = unsafe first
        while let entry = unsafe next {
            if let system = unsafe entry.pointee.ai_addr, let address = unsafe SocketAddress(system),
                !found.contains(address.host)
            {
                found.append(address.host)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }
}

import MultipeerCommandLine
package import MultipeerEssentials

/// Whether large packets reach a peer. Where a network drops them without a word, small ones pass, so that everything seems to work
/// until there is data.
///
/// Each connection sends one packet, the beginning of a handshake that never ends, and is closed. What counts is whether the system at
/// the other side acknowledges it: no one is asked there.
package struct PathProbe: Equatable, Sendable {
    package enum Result: Equatable, Sendable {
        /// The largest packets of this machine arrive, of this many bytes.
        case open(Int)
        /// Those of `size` bytes arrive, and none that is larger; this machine sends up to `most`.
        case narrow(size: Int, most: Int)
        /// Not even small packets are acknowledged.
        case silent
    }

    package let address: SocketAddress
    /// The interface that leads there, if it is known.
    package let interface: String?
    package let result: Result

    package init(address: SocketAddress, interface: String?, result: Result) {
        self.address = address
        self.interface = interface
        self.result = result
    }

    package var finding: Finding {
        let topic = "packets \(address)"
        switch result {
        case .open(let size): return .ok(topic, "those of \(size) bytes arrive")
        case .narrow(let size, let most):
            let place = interface ?? "the interface"
            // Below 1,280 an interface has no IPv6.
            let cost = size < 1_280 ? " (which ends IPv6 there)" : ""
            return .problem(
                topic,
                "those of more than \(size) bytes vanish on the way; \(place) sends up to \(most)",
                hint:
                    "set the MTU of \(place) to \(size)\(cost): 'ip link set \(interface ?? "NAME") mtu \(size)'; "
                    + "until then links find that out themselves, after some seconds"
            )
        case .silent:
            return .problem(
                topic, "none with data is acknowledged",
                hint: "something between accepts connections, and passes nothing on")
        }
    }
}

// MARK: the network

extension PathProbe {
    private static let connectTime: Int32 = 2_500
    /// How long the first packets may take, with a few repetitions.
    private static let firstTime = Duration.seconds(2)
    private static let roundTime = Duration.milliseconds(800)
    private static let pause: Int32 = 20
    private static let smallest = 500
    /// Larger packets are not tried.
    private static let mostData = 8_960
    private static let mostRounds = 7

    /// Tries it without blocking the caller, after what is known of the port. Returns nil if there is no connection, and for an address
    /// of this machine.
    static func result(_ probe: AddressProbe) async -> PathProbe? {
        let address = probe.address
        guard probe.tcp == .open, let own = probe.own, own != address.host else { return nil }
        let result = try? await Worker("packets").run { () throws(CommandError) in look(address) }
        guard let result = result ?? nil else { return nil }
        let interface = try? NetworkInterface.all().first { $0.addresses.contains { $0.host == own } }
        return PathProbe(address: address, interface: interface?.name, result: result)
    }

    /// Blocks for at most 40 seconds; usually no longer than a packet takes to the peer and back.
    private static func look(_ address: SocketAddress) -> Result? {
        let first = send([nil, smallest], to: address, within: firstTime)
        guard let large = first[0], let small = first[1] else { return nil }
        if large.hasArrived { return .open(large.size) }
        guard small.hasArrived, small.size < large.size else { return small.hasArrived ? nil : .silent }
        var search = PathSearch(arrived: small.size, lost: large.size)
        for _ in 0..<mostRounds {
            let sizes = search.sizes
            if sizes.isEmpty { break }
            let wait = max(roundTime, small.roundTrip * 4 + .milliseconds(600))
            // A network that loses packets at random lets one of the largest pass in the end.
            let sent = send(sizes.map(Optional.some) + [nil], to: address, within: min(wait, firstTime))
                .compactMap(\.self)
            guard sent.count == sizes.count + 1, let again = sent.last else { break }
            if again.hasArrived { return .open(again.size) }
            search.note(sent.map { ($0.size, $0.hasArrived) })
        }
        return .narrow(size: search.arrived, most: large.size)
    }

    private struct Packet {
        /// With its headers, in bytes.
        let size: Int
        let hasArrived: Bool
        let roundTrip: Duration
    }

    /// Sends one packet of each size, nil for the largest, over a connection of its own. Returns what became of them; nil where there
    /// was no connection.
    private static func send(_ sizes: [Int?], to address: SocketAddress, within time: Duration) -> [Packet?] {
        let sockets = sizes.map { TestConnection(to: address, packet: $0) }
        let connected = ContinuousClock.now + .milliseconds(connectTime)
        let sent = sockets.map { $0.deliver(before: connected, most: mostData) }
        let deadline = ContinuousClock.now + time
        while ContinuousClock.now < deadline,
            zip(sockets, sent).contains(where: { $1 != nil && !$0.hasArrived })
        {
            _ = poll(nil, 0, pause)
        }
        return zip(sockets, sent).map { socket, size in
            size.map { Packet(size: $0, hasArrived: socket.hasArrived, roundTrip: socket.roundTrip) }
        }
    }
}

/// A connection for one packet.
private final class TestConnection {
    private let descriptor: Int32
    private let headers: Int

    /// `packet`: the largest packet that it sends, in bytes.
    init(to address: SocketAddress, packet: Int?) {
        let isV4 = address.host.isV4
        headers = isV4 ? 40 : 60
        descriptor = SystemCalls.socket(isV4 ? AF_INET : AF_INET6, CLibrary.streamSocket, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { return }
        if let packet { SocketOptions.limitSegments(descriptor, to: Int32(clamping: packet - headers)) }
        _ = unsafe address.withSystemAddress { unsafe connect(descriptor, $0, $1) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // What was not acknowledged is not sent again.
        var now = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    /// Returns the size of the packet; nil if there is no connection in time.
    func deliver(before deadline: ContinuousClock.Instant, most: Int) -> Int? {
        guard descriptor >= 0 else { return nil }
        let rest = Int32(clamping: Int(max(0, ContinuousClock.now.duration(to: deadline).seconds * 1e3)))
        var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&one, 1, rest) > 0, error == 0, let state = SocketOptions.transmission(descriptor)
        else {
            return nil
        }
        let count = min(state.segment, most)
        // The head of a TLS record that is never complete.
        let bytes: [UInt8] = [22, 3, 1, 64, 0] + [UInt8](repeating: 0, count: max(0, count - 5))
        guard unsafe send(descriptor, bytes, count, CLibrary.noSignal) == count else { return nil }
        return count + state.optionBytes + headers
    }

    /// Whether the other side has the packet: it has acknowledged it, or refused what was in it.
    var hasArrived: Bool {
        if isRefused { return true }
        let code = error
        if code != 0 { isRefused = code == ECONNRESET || code == EPIPE }
        return isRefused || SocketOptions.transmission(descriptor)?.isWaiting == false
    }

    private var isRefused = false

    var roundTrip: Duration { SocketOptions.transmission(descriptor)?.roundTrip ?? .zero }

    private var error: Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
        return code
    }
}

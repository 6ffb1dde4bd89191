import MultipeerCommandLine
package import MultipeerEssentials

/// Whether the addresses of a peer can be reached: TCP and UDP at its port. Nothing is asked of the peer or its user: a connection
/// is made and closed, and one empty datagram is sent.
package struct AddressProbe: Sendable {
    /// What came back from a port.
    package enum Answer: Equatable, Sendable {
        case open
        /// The machine answers that nothing listens there.
        case refused
        /// Nothing came back in time.
        case silent
        case failed(String)
    }

    package let address: SocketAddress
    /// The address of this machine from which it was tried; nil if there is no way.
    package let own: SocketAddress.Host?
    package let tcp: Answer
    package let udp: Answer

    package init(address: SocketAddress, own: SocketAddress.Host?, tcp: Answer, udp: Answer) {
        self.address = address
        self.own = own
        self.tcp = tcp
        self.udp = udp
    }

    /// Tries both; blocks for at most 4 seconds.
    static func look(_ address: SocketAddress) -> AddressProbe {
        let (own, tcp) = dial(address)
        let udp: Answer = own == nil ? tcp : knock(address)
        return AddressProbe(address: address, own: own, tcp: tcp, udp: udp)
    }

    /// The same, without blocking the caller.
    static func result(_ address: SocketAddress) async -> AddressProbe {
        let probe = try? await Worker("probe").run { () throws(CommandError) in look(address) }
        return probe ?? AddressProbe(address: address, own: nil, tcp: .silent, udp: .silent)
    }

    /// Whether both are open, and both ways of each.
    package var isOpen: Bool { tcp == .open && udp == .open }

    /// Returns what this one or a later one has found.
    package func or(_ later: AddressProbe) -> AddressProbe {
        AddressProbe(
            address: address, own: later.own ?? own, tcp: tcp == .open ? tcp : later.tcp,
            udp: udp == .open ? udp : later.udp)
    }

    package var findings: [Finding] {
        let from = own.map { ", from \($0)" } ?? ""
        return [tcpFinding("TCP \(address)", from), udpFinding("UDP \(address)", from)]
    }

    private func tcpFinding(_ topic: String, _ from: String) -> Finding {
        switch tcp {
        case .open: .ok(topic, "accepts connections\(from)")
        case .refused:
            .problem(
                topic, "nothing listens at this port\(from)",
                hint: "start the command there, or give the port that its '--port' names: ADDRESS:PORT")
        case .silent:
            .problem(
                topic, "no answer\(from)",
                hint:
                    "a firewall there has to let in TCP port \(address.port); or the machine is off, or on another network"
            )
        case .failed(let problem):
            .problem(topic, "\(problem)\(from)", hint: "this machine has no way to that address")
        }
    }

    /// A peer listens for datagrams only while it has a link, and answers none from others: otherwise its machine says so, which
    /// shows that they arrive. Another doctor answers.
    private func udpFinding(_ topic: String, _ from: String) -> Finding {
        switch udp {
        case .open: .ok(topic, "datagrams arrive, and so do the answers\(from)")
        case .refused: .ok(topic, "datagrams arrive; no link uses the port now\(from)")
        case .silent:
            .note(
                topic, "no answer\(from)",
                hint:
                    "usual while a link of the peer uses the port; otherwise a firewall there drops UDP port \(address.port), "
                    + "and unreliable messages take the link")
        case .failed(let problem): .note(topic, "\(problem)\(from)")
        }
    }
}

// MARK: the network

extension AddressProbe {
    private static let dialTime: Int32 = 3_000
    private static let knockTime: Int32 = 1_000

    private static func dial(_ address: SocketAddress) -> (SocketAddress.Host?, Answer) {
        do throws(SocketFault) {
            let socket = try Socket.connecting(to: address)
            let own = socket.localAddress?.host
            guard isReady(socket.descriptor, Int16(POLLOUT), within: dialTime) else { return (own, .silent) }
            guard let fault = socket.connectionResult() else { return (own, .open) }
            switch fault {
            case .refused: return (own, .refused)
            case .timedOut: return (own, .silent)
            default: return (own, .failed("\(fault)"))
            }
        } catch {
            return (nil, .failed("\(error)"))
        }
    }

    private static func knock(_ address: SocketAddress) -> Answer {
        let descriptor = SystemCalls.socket(
            address.host.isV4 ? AF_INET : AF_INET6, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { return .failed(SystemFault.last.reason) }
        defer { close(descriptor) }
        let code = unsafe address.withSystemAddress { unsafe connect(descriptor, $0, $1) }
        let nothing: [UInt8] = []
        guard code == 0, unsafe send(descriptor, nothing, 0, 0) >= 0 else {
            return .failed(SystemFault.last.reason)
        }
        guard isReady(descriptor, Int16(POLLIN), within: knockTime) else { return .silent }
        var byte: UInt8 = 0
        guard unsafe recv(descriptor, &byte, 1, 0) < 0 else { return .open }
        return errno == ECONNREFUSED ? .refused : .failed(SystemFault.last.reason)
    }

    private static func isReady(_ descriptor: Int32, _ events: Int16, within time: Int32) -> Bool {
        var one = pollfd(fd: descriptor, events: events, revents: 0)
        return unsafe poll(&one, 1, time) > 0
    }
}

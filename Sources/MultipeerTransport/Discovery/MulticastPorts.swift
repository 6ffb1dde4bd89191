import MultipeerDiscovery

/// The sockets of multicast DNS: for each interface and family one that is joined to the group, and, once a query was sent from
/// it, one with a port of its own. Lives on the loop.
struct MulticastPorts {
    /// One socket.
    final class Port {
        let scope: UInt32
        let family: Family
        let source: SocketAddress.Host
        let isOneShot: Bool
        let socket: MulticastSocket

        fileprivate init(
            _ scope: UInt32, _ family: Family, _ source: SocketAddress.Host, oneShot: Bool,
            _ socket: consuming MulticastSocket
        ) {
            (self.scope, self.family, self.source) = (scope, family, source)
            isOneShot = oneShot
            self.socket = socket
        }
    }

    private struct Key: Hashable {
        let scope: UInt32
        let family: Family
        let isOneShot: Bool
    }

    /// Packets have at most 9,000 bytes; one that fills the buffer is longer, and dropped.
    let receiveBuffer = DatagramReceiveBuffer(slots: 16, size: 9_216)
    private let loop: EventLoop
    private var tokens: [Key: Int] = [:]
    private var ports: [Int: Port] = [:]
    private var lastToken = 0

    init(on loop: EventLoop) { self.loop = loop }

    subscript(token: Int) -> Port? { ports[token] }

    /// Joins the group in all families of the link, and returns those in which that succeeded. Sockets of an address that no
    /// longer exists make room for others.
    mutating func open(
        _ link: MulticastLink, for client: any LoopClient
    ) -> (families: Set<Family>, fault: SocketFault?) {
        var families: Set<Family> = []
        var fault: SocketFault?
        for family in Family.allCases {
            guard let source = link.sources[family] else {
                close(link.scope.id, family)
                continue
            }
            let key = Key(scope: link.scope.id, family: family, isOneShot: false)
            if port(key)?.source != source { close(link.scope.id, family) }
            if port(key) == nil {
                do throws(SocketFault) {
                    let socket = try loop.multicastSocket(
                        interface: link.name, index: link.scope.id, source: source)
                    try add(Port(link.scope.id, family, source, oneShot: false, socket), for: client)
                } catch {
                    fault = fault ?? error
                    continue
                }
            }
            families.insert(family)
        }
        return (families, fault)
    }

    mutating func close(_ scope: UInt32) {
        for family in Family.allCases { close(scope, family) }
    }

    mutating func closeAll() {
        for token in ports.keys.sorted() { remove(token) }
    }

    /// Sends a packet from port 5353, by default to the group.
    func send(_ bytes: [UInt8], _ scope: UInt32, _ family: Family, to address: SocketAddress? = nil) {
        port(Key(scope: scope, family: family, isOneShot: false))?.socket.send(bytes, to: address)
    }

    /// Sends a packet to the group from a port of its own, which is opened when there is none.
    mutating func ask(_ bytes: [UInt8], _ scope: UInt32, _ family: Family, for client: any LoopClient) {
        let key = Key(scope: scope, family: family, isOneShot: true)
        if port(key) == nil, let source = port(Key(scope: scope, family: family, isOneShot: false))?.source {
            do throws(SocketFault) {
                let socket = try loop.oneShotSocket(index: scope, source: source)
                try add(Port(scope, family, source, oneShot: true, socket), for: client)
            } catch {
                // Only a little time is lost: the same query is sent from port 5353 soon.
                return
            }
        }
        port(key)?.socket.send(bytes)
    }

    private func port(_ key: Key) -> Port? { tokens[key].flatMap { ports[$0] } }

    private mutating func add(_ port: Port, for client: any LoopClient) throws(SocketFault) {
        lastToken += 1
        try loop.register(port.socket.descriptor, for: client, token: lastToken, interest: .readable)
        ports[lastToken] = port
        tokens[Key(scope: port.scope, family: port.family, isOneShot: port.isOneShot)] = lastToken
    }

    private mutating func close(_ scope: UInt32, _ family: Family) {
        for isOneShot in [false, true] {
            if let token = tokens[Key(scope: scope, family: family, isOneShot: isOneShot)] { remove(token) }
        }
    }

    private mutating func remove(_ token: Int) {
        guard let port = ports.removeValue(forKey: token) else { return }
        tokens[Key(scope: port.scope, family: port.family, isOneShot: port.isOneShot)] = nil
        loop.deregister(port.socket.descriptor)
    }
}

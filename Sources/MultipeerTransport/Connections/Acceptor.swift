import MultipeerCore
import MultipeerHandshake

/// The listening sockets of a session.
struct Acceptor {
    /// Connections that wait to be accepted: when that many wait, the system drops the next, which is repeated a second later.
    private static let backlog: Int32 = 1_024

    /// Listeners by token; tokens are negative, so that they cannot be connections.
    private(set) var listeners: [Int: Listener] = [:]

    /// The port that they share with other uses of this process; nil when it is the driver's alone.
    let sharedPort: SharedPort?

    final class Listener: Sendable {
        let socket: Socket
        let address: SocketAddress
        let isEverywhere: Bool
        init(_ socket: consuming Socket, _ address: SocketAddress, isEverywhere: Bool) {
            self.socket = socket
            self.address = address
            self.isEverywhere = isEverywhere
        }
    }

    /// Listens on these addresses; none means every interface, IPv4 and IPv6 where the system has them. `onOnePort`: all of them
    /// use `port`, or if that is 0 the one that the system chooses for the first, and a fault is thrown where that is taken.
    init(
        _ addresses: [SocketAddress], on loop: EventLoop, onOnePort: Bool = false, port: UInt16 = 0
    ) throws(SocketFault) {
        sharedPort = nil
        let everywhere = addresses.isEmpty
        let wanted =
            everywhere ? [SocketAddress(.anyV4, port: 0), SocketAddress(.anyV6, port: 0)] : addresses
        var last: SocketFault?
        var port = port
        for (index, address) in wanted.enumerated() {
            let address = address.port == 0 ? address.with(port: port) : address
            do throws(SocketFault) {
                let socket = try loop.listen(on: address, backlog: Acceptor.backlog)
                let bound = socket.localAddress ?? address
                listeners[-1 - index] = Listener(socket, bound, isEverywhere: bound.host.isUnspecified)
                if onOnePort { port = bound.port }
            } catch {
                if !everywhere || onOnePort && error == .addressInUse { throw error }
                last = error
            }
        }
        if let last, listeners.isEmpty { throw last }
    }

    /// Takes connections from the same queues as these listeners, with sockets of its own.
    init(sharing port: SharedPort, _ originals: [Listener]) throws(SocketFault) {
        sharedPort = port
        for (index, original) in originals.enumerated() {
            listeners[-1 - index] = Listener(
                try original.socket.duplicate(), original.address, isEverywhere: original.isEverywhere)
        }
    }

    /// The number that datagrams use, too; 0 lets the system choose.
    var datagramPort: UInt16 { sharedPort == nil ? 0 : listeners[-1]?.address.port ?? 0 }

    /// Listens on one port at all of these addresses; tries another where the port is taken at one of them.
    static func onOnePort(
        _ addresses: [SocketAddress], on loop: EventLoop
    ) throws(SocketFault) -> Acceptor {
        for _ in 0..<8 {
            do throws(SocketFault) { return try Acceptor(addresses, on: loop, onOnePort: true) } catch {
                guard error == .addressInUse else { throw error }
            }
        }
        throw .addressInUse
    }

    /// Returns the addresses at which others can reach this session, the likeliest first: IPv4, then IPv6, link-local last;
    /// loopback if the machine has no other address, or if the session was configured to listen there.
    func addresses(of loop: EventLoop) -> [SocketAddress] {
        // Listing the interfaces costs more than the rest of the call: only for a listener at all of them.
        let isEverywhere = listeners.values.contains { $0.isEverywhere }
        let interfaces = isEverywhere ? loop.interfaces().filter(\.isUp) : []
        let reachable = interfaces.filter { !$0.isLoopback }
        var found: [SocketAddress] = []
        for (_, listener) in listeners.sorted(by: { $0.key > $1.key }) {
            guard listener.isEverywhere else { found.append(listener.address); continue }
            let pool = reachable.isEmpty ? interfaces : reachable
            let hosts = pool.flatMap(\.addresses).map(\.host).filter { $0.isV4 == listener.address.host.isV4 }
            found += hosts.map { SocketAddress($0, port: listener.address.port) }
        }
        return found.filter { !$0.host.isLinkLocal } + found.filter(\.host.isLinkLocal)
    }
}

// MARK: the sockets on the loop

extension Acceptor {
    func register(on loop: EventLoop, for client: any LoopClient) throws(SocketFault) {
        for (token, listener) in listeners.sorted(by: { $0.key > $1.key }) {
            try loop.register(listener.socket.descriptor, for: client, token: token, interest: .readable)
        }
    }

    /// Deregisters all; does nothing for those that are not registered.
    func deregister(from loop: EventLoop) {
        for listener in listeners.values { loop.deregister(listener.socket.descriptor) }
    }
}

extension Acceptor.Listener {
    /// Accepts the waiting connections, at most 64 a turn. Returns false when the system can give no more for a while: otherwise
    /// the loop would spin over those that wait. `count`: the descriptors that are left.
    func accept(
        atMost limit: Int = 64, leaving count: Int, _ body: (consuming Socket, SocketAddress) -> Void
    ) -> Bool {
        for _ in 0..<limit {
            switch socket.accept(leaving: count) {
            case .socket(let socket, from: let remote): body(socket, remote)
            case .aborted: continue
            case .wouldBlock: return true
            case .exhausted: return false
            case .failed: return false
            }
        }
        return true
    }
}

import MultipeerCore

/// The UDP sockets of a session. Lives on the loop.
///
/// A session that listens on every interface has one socket, at every address. Any other has one for each address at
/// which a link ends here, so that nothing listens where the owner did not want it. A socket closes with the last link
/// that uses it.
struct DatagramPorts {
    /// Tokens are below those of the listeners.
    static let firstToken = -1_000
    /// The maximum number of packets per turn: further ones wait for the next turn, so that no port starves the others.
    static let packets = 1_024

    /// Packets that belong to no link.
    var strays = 0
    private var ports: [Int: DatagramPort] = [:]
    private var nextToken = firstToken

    subscript(token: Int) -> DatagramPort? { ports[token] }

    /// The socket at this address, or, when nil, at every one. If `number` is taken, the system chooses: no link ends for that.
    mutating func open(
        at host: SocketAddress.Host?, number: UInt16, on loop: EventLoop, for client: any LoopClient
    ) throws(SocketFault) -> DatagramPort {
        if let port = ports.values.first(where: { $0.host == host }) {
            port.users += 1
            return port
        }
        let socket = try DatagramPorts.socket(at: host, number: number, on: loop)
        guard let address = socket.localAddress else { throw .last }
        let port = DatagramPort(socket, at: host, number: address.port, token: nextToken)
        try loop.register(port.socket.descriptor, for: client, token: port.token, interest: .readable)
        ports[port.token] = port
        nextToken -= 1
        return port
    }

    private static func socket(
        at host: SocketAddress.Host?, number: UInt16, on loop: EventLoop
    ) throws(SocketFault) -> DatagramSocket {
        do throws(SocketFault) {
            return try loop.datagramSocket(at: host, port: number)
        } catch {
            guard number > 0 else { throw error }
            return try loop.datagramSocket(at: host)
        }
    }

    mutating func release(_ port: DatagramPort, on loop: EventLoop) {
        port.users -= 1
        guard port.users == 0 else { return }
        loop.deregister(port.socket.descriptor)
        ports[port.token] = nil
    }
}

/// One UDP socket, which several links may share.
final class DatagramPort {
    /// Nil: every address.
    let host: SocketAddress.Host?
    let number: UInt16
    let token: Int
    var socket: DatagramSocket
    var interest = Readiness.readable
    fileprivate(set) var users = 1
    private var joinsPackets = false

    init(_ socket: consuming DatagramSocket, at host: SocketAddress.Host?, number: UInt16, token: Int) {
        self.socket = socket
        self.host = host
        self.number = number
        self.token = token
    }

    /// Prepares the socket for messages, once.
    func joinPackets() {
        if joinsPackets { return }
        joinsPackets = true
        socket.joinPackets()
    }
}

package import MultipeerFraming
import MultipeerPlatform

/// A TCP socket that never blocks, and closes with its owner.
package struct Socket: ~Copyable, Sendable {
    /// Only for `EventLoop.register`; deregister it before the socket goes.
    package let descriptor: Int32
    /// Set for a socket of a simulated machine, whose number the descriptor is.
    private let simulated: VirtualSocket?

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        simulated = nil
    }

    init(_ simulated: VirtualSocket) {
        descriptor = simulated.descriptor
        self.simulated = simulated
    }

    private init(_ family: Int32) throws(SocketFault) {
        simulated = nil
        descriptor = SystemCalls.socket(family, CLibrary.streamSocket, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw .last }
    }

    deinit { if let simulated { simulated.close() } else { close(descriptor) } }

    /// Opens a socket that listens for connections. Port 0 takes any free one; `localAddress` has it.
    package static func listening(
        on address: SocketAddress, backlog: Int32 = 128
    ) throws(SocketFault) -> Socket {
        let socket = try Socket(address.family)
        if !address.host.isV4 { try socket.set(IPV6_V6ONLY, at: Int32(IPPROTO_IPV6), 1) }
        try socket.set(SO_REUSEADDR, at: SOL_SOCKET, 1)
        let bound = unsafe address.withSystemAddress { unsafe bind(socket.descriptor, $0, $1) }
        guard bound == 0, listen(socket.descriptor, backlog) == 0 else { throw .last }
        return socket
    }

    /// Returns another descriptor of the same socket.
    borrowing func duplicate() throws(SocketFault) -> Socket {
        guard simulated == nil else { throw .other(ENOTSUP) }
        let copy = Descriptors.duplicate(descriptor)
        guard copy >= 0 else { throw .last }
        return Socket(owning: copy)
    }

    /// Opens a socket that is connecting: when it becomes writable or fails, `connectionResult` has the result. `segment`: the data
    /// of its largest packet, in both directions; nil leaves that to the system.
    package static func connecting(to address: SocketAddress, segment: Int32? = nil) throws(SocketFault)
        -> Socket
    {
        let socket = try Socket(address.family)
        socket.tune()
        if let segment { SocketOptions.limitSegments(socket.descriptor, to: segment) }
        let code = unsafe address.withSystemAddress { unsafe connect(socket.descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS || errno == EINTR else { throw .last }
        return socket
    }

    /// Returns nil when the connection is established.
    package borrowing func connectionResult() -> SocketFault? {
        if let simulated { return simulated.connectionResult() }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return .last }
        if code != 0 { return SocketFault(errno: code) }
        return remoteAddress == nil ? .other(ENOTCONN) : nil
    }

    /// Accepts one waiting connection, with the same options as those that we dial; none, which leaves it waiting, if fewer than
    /// `count` descriptors would be left.
    package borrowing func accept(leaving count: Int = Descriptors.reserved) -> Accepted {
        if let simulated { return Socket.accept(from: simulated) }
        guard Descriptors.isFree(leaving: count) else { return .exhausted }
        let (code, address) = unsafe SocketAddress.filled { unsafe SystemCalls.accept(descriptor, $0, $1) }
        if code >= 0 {
            let socket = Socket(owning: code)
            guard let address else { return .aborted }
            socket.tune()
            return .socket(socket, from: address)
        }
        switch errno {
        case EAGAIN: return .wouldBlock
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
        case EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EFAULT: return .failed(.last)
        default: return .aborted
        }
    }

    /// Appends at most `limit` received bytes to the buffer.
    package borrowing func receive(into buffer: inout ByteBuffer, upTo limit: Int) -> Received {
        precondition(limit > 0, "receiving needs a buffer that is not empty")
        if let simulated { return simulated.receive(into: &buffer, upTo: limit) }
        var received = Received.wouldBlock
        _ = buffer.write(upTo: limit) { room in
            let count = unsafe room.withUnsafeMutableBytes { bytes in
                while true {
                    let count = unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
                    if count >= 0 || errno != EINTR { return count }
                }
            }
            switch count {
            case 1...: received = .bytes(count)
            case 0: received = .endOfStream
            default: received = errno == EAGAIN ? .wouldBlock : .failed(.last)
            }
            return max(count, 0)
        }
        return received
    }

    /// Hands as many bytes as possible to the kernel.
    package borrowing func send(_ bytes: Span<UInt8>) -> Sent {
        if let simulated { return simulated.send(bytes) }
        let count = unsafe bytes.withUnsafeBytes { bytes in
            while true {
                let count = unsafe MultipeerPlatform.send(
                    descriptor, bytes.baseAddress, bytes.count, CLibrary.noSignal)
                if count >= 0 || errno != EINTR { return count }
            }
        }
        if count >= 0 { return .sent(count) }
        return errno == EAGAIN ? .wouldBlock : .failed(.last)
    }

    /// Ends our side of the stream; the other side can still be read.
    package borrowing func shutdownWriting() {
        if let simulated { return simulated.shutdownWriting() }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    package var localAddress: SocketAddress? {
        if let simulated { return simulated.local }
        return unsafe SocketAddress.filled { unsafe getsockname(descriptor, $0, $1) }.address
    }

    package var remoteAddress: SocketAddress? {
        if let simulated { return simulated.remote }
        return unsafe SocketAddress.filled { unsafe getpeername(descriptor, $0, $1) }.address
    }
}

extension Socket {
    /// Whether it is one of a simulated machine.
    var isSimulated: Bool { simulated != nil }

    private static func accept(from listener: VirtualSocket) -> Accepted {
        guard let accepted = listener.accept() else { return .wouldBlock }
        guard let remote = accepted.remote else { return .aborted }
        return .socket(Socket(accepted), from: remote)
    }

    /// Has a simulated socket give up what was not read for so long; false for any other socket.
    borrowing func setSimulatedTimeout(_ timeout: Duration?) -> Bool {
        simulated?.setTimeLimit(timeout)
        return simulated != nil
    }
}

extension Socket {
    /// The result of `accept`.
    package enum Accepted: ~Copyable {
        case socket(Socket, from: SocketAddress)
        case wouldBlock
        /// This one went away before it was accepted; there may be others.
        case aborted
        /// No descriptor or memory is left: pause accepting, or the loop spins.
        case exhausted
        /// The listener is no longer usable.
        case failed(SocketFault)
    }

    /// The result of `receive`.
    package enum Received: Hashable, Sendable {
        case bytes(Int)
        case wouldBlock
        case endOfStream
        case failed(SocketFault)
    }

    /// The result of `send`.
    package enum Sent: Hashable, Sendable {
        case sent(Int)
        case wouldBlock
        case failed(SocketFault)
    }
}

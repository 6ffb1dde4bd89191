import CPlatform
import MultipeerFraming
import MultipeerPlatform

/// A UDP socket that never blocks, is not connected, and closes with its owner.
///
/// It sends in batches by the best method that the kernel has: packets of equal size as segments of one call, else
/// several packets with one call, else one by one. A kernel that refuses a method is not asked again. Nothing that
/// happens to a packet is the socket's end: what the network or the kernel refuses is lost, as any packet can be.
package struct DatagramSocket: ~Copyable, Sendable {
    /// Segments of one call, and their bytes: what every kernel that has them accepts for IPv4 and IPv6.
    package static let mostSegments = 64
    package static let longestRun = 65_487
    /// The receive buffer in the kernel for while the loop is busy; the system's limit may be lower.
    private static let room: Int32 = 1_048_576

    /// The best method that the runtime has.
    package static var bestSendMethod: SendMethod { SystemCalls.sendMethod }

    /// How packets are handed to the kernel.
    package enum SendMethod: Int, Comparable, CaseIterable, Sendable {
        case oneByOne, together, segments

        package static func < (one: SendMethod, other: SendMethod) -> Bool { one.rawValue < other.rawValue }
    }

    /// Only for `EventLoop.register`; deregister it before the socket goes.
    package let descriptor: Int32
    /// Whether it is an IPv6 socket that carries IPv4, too.
    private let isDualStack: Bool
    package private(set) var sendMethod = DatagramSocket.bestSendMethod
    /// Set for a socket of a simulated machine, whose number the descriptor is.
    private let simulated: VirtualDatagramSocket?

    init(_ simulated: VirtualDatagramSocket) {
        descriptor = simulated.descriptor
        isDualStack = false
        self.simulated = simulated
    }

    private init(_ family: Int32, dualStack: Bool = false) throws(SocketFault) {
        isDualStack = dualStack
        simulated = nil
        descriptor = SystemCalls.socket(family, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw .last }
    }

    deinit { if let simulated { simulated.close() } else { close(descriptor) } }

    /// Opens a socket at one address of this machine. Port 0 takes any free one; `localAddress` has it.
    package static func bound(
        to address: SocketAddress, atMost sendMethod: SendMethod = bestSendMethod
    ) throws(SocketFault) -> DatagramSocket {
        let socket = try DatagramSocket(address.family)
        return try bind(socket, to: address, sendMethod)
    }

    /// Opens a socket at every address of this machine, IPv4 and IPv6 where the system has both.
    package static func everywhere(
        port: UInt16 = 0, atMost sendMethod: SendMethod = bestSendMethod
    ) throws(SocketFault) -> DatagramSocket {
        do throws(SocketFault) {
            let socket = try DatagramSocket(AF_INET6, dualStack: true)
            return try bind(socket, to: SocketAddress(.anyV6, port: port), sendMethod)
        } catch {
            if error == .addressInUse { throw error }
            return try bound(to: SocketAddress(.anyV4, port: port), atMost: sendMethod)
        }
    }

    private static func bind(
        _ socket: consuming DatagramSocket, to address: SocketAddress, _ sendMethod: SendMethod
    ) throws(SocketFault) -> DatagramSocket {
        if !address.host.isV4 {
            try socket.set(IPV6_V6ONLY, at: Int32(IPPROTO_IPV6), socket.isDualStack ? 0 : 1)
        }
        let descriptor = socket.descriptor
        guard unsafe address.withSystemAddress({ unsafe MultipeerPlatform.bind(descriptor, $0, $1) }) == 0
        else {
            throw .last
        }
        // Neither is worth failing for.
        try? socket.set(SO_RCVBUF, at: SOL_SOCKET, room)
        socket.sendMethod = min(sendMethod, bestSendMethod)
        return socket
    }

    /// Requests that the kernel join packets that arrive together, where it can. For a socket that receives messages: with the
    /// first and the last such socket of a machine its kernel stops every core for a moment.
    package func joinPackets() {
        if simulated == nil, sendMethod == .segments { SystemCalls.joinPackets(descriptor) }
    }

    package var localAddress: SocketAddress? {
        if let simulated { return simulated.local }
        return unsafe SocketAddress.filled { unsafe getsockname(descriptor, $0, $1) }.address
    }

    private borrowing func set(_ option: Int32, at level: Int32, _ value: Int32) throws(SocketFault) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else { throw .last }
    }
}

// MARK: - Sending

extension DatagramSocket {
    /// The result for a batch. Packets that were neither sent nor refused are still in it: the kernel has no room.
    package struct Sent: Hashable, Sendable {
        package fileprivate(set) var sent = 0
        /// Packets that the kernel refused, for whatever reason: lost.
        package fileprivate(set) var refused = 0
    }

    /// Hands the packets of the batch to the kernel and takes them out of it, until it is empty or the kernel full: then
    /// the socket becomes writable later.
    package mutating func send(_ batch: inout DatagramBatch, to address: SocketAddress) -> Sent {
        if let simulated { return DatagramSocket.send(&batch, from: simulated, to: address) }
        var result = Sent()
        let address = SocketAddress(isDualStack ? address.host.mapped : address.host, port: address.port)
        while !batch.isEmpty {
            switch hand(batch, to: address) {
            case .taken(let packets):
                batch.removeFirst(packets)
                result.sent += packets
            case .lost(let packets):
                batch.removeFirst(packets)
                result.refused += packets
            case .again: continue
            case .full: return result
            }
        }
        return result
    }

    private enum SendOutcome {
        case taken(Int), lost(Int), again, full
    }

    /// One call.
    private mutating func hand(_ batch: borrowing DatagramBatch, to address: SocketAddress) -> SendOutcome {
        let packets: Int
        let taken: Int
        switch sendMethod {
        case .segments:
            let run = batch.run()
            packets = run.packets
            taken =
                call(batch, run.bytes, segment: packets > 1 ? batch.waiting.first ?? 0 : 0, address) >= 0
                ? packets : -1
        case .together:
            packets = 1
            taken = callTogether(batch, address)
        case .oneByOne:
            packets = 1
            taken = call(batch, Int(batch.waiting.first ?? 0), segment: 0, address) >= 0 ? 1 : -1
        }
        if taken >= 0 { return .taken(taken) }
        switch errno {
        case EINTR: return .again
        case EAGAIN: return .full
        case EINVAL where sendMethod == .segments && packets > 1,
            EIO where sendMethod == .segments && packets > 1,
            ENOPROTOOPT where sendMethod == .segments, EOPNOTSUPP where sendMethod == .segments:
            sendMethod = .together
            return .again
        case ENOSYS where sendMethod == .together:
            sendMethod = .oneByOne
            return .again
        case EMSGSIZE where packets > 1:
            // Segments do not fit the path; the packets themselves may be cut by the network.
            sendMethod = .together
            return .again
        default: return .lost(packets)
        }
    }

    private func call(
        _ batch: borrowing DatagramBatch, _ count: Int, segment: UInt16, _ address: SocketAddress
    ) -> Int {
        batch.bytes.read { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe address.withSystemAddress { address, length in
                    unsafe SystemCalls.sendSegments(
                        descriptor, address, length, bytes.baseAddress, count, segment: segment)
                }
            }
        }
    }

    private func callTogether(_ batch: borrowing DatagramBatch, _ address: SocketAddress) -> Int {
        let sizes = batch.waiting.prefix(Int(MULTIPEER_PACKETS))
        return batch.bytes.read { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe sizes.withUnsafeBufferPointer { sizes in
                    unsafe address.withSystemAddress { address, length in
                        unsafe SystemCalls.sendPackets(
                            descriptor, address, length, bytes.baseAddress, sizes)
                    }
                }
            }
        }
    }
}

// MARK: - Receiving

extension DatagramSocket {
    /// The result of one call.
    package struct Received: Hashable, Sendable {
        /// Packets that were passed to `body`.
        package fileprivate(set) var packets = 0
        /// Packets that were longer than the buffer, or had no known source.
        package fileprivate(set) var dropped = 0
        /// Whether nothing more waits for now.
        package fileprivate(set) var isDrained = true
    }

    /// Receives as many packets as one call returns, and passes each to `body` with its source.
    package borrowing func receive(
        with receiveBuffer: DatagramReceiveBuffer, _ body: (Span<UInt8>, SocketAddress) -> Void
    ) -> Received {
        if let simulated { return DatagramSocket.receive(from: simulated, atMost: receiveBuffer.slots, body) }
        let arrivals = receiveBuffer.fill(from: descriptor)
        var received = Received()
        guard arrivals >= 0 else {
            // An ICMP error of an earlier packet is reported once, in place of a packet.
            received.isDrained = errno == EAGAIN
            return received
        }
        received.isDrained = arrivals < receiveBuffer.slots
        for index in 0..<arrivals {
            guard let source = receiveBuffer.source(of: index) else {
                received.dropped += 1
                continue
            }
            received.packets += receiveBuffer.withPackets(of: index) { body($0, source) }
        }
        return received
    }
}

// MARK: - In simulations

extension DatagramSocket {
    private static func send(
        _ batch: inout DatagramBatch, from simulated: VirtualDatagramSocket, to address: SocketAddress
    ) -> Sent {
        var result = Sent()
        while let size = batch.waiting.first {
            let packet = batch.bytes.read { [UInt8](copying: $0.extracting(0..<Int(size))) }
            simulated.send(packet, to: address)
            batch.removeFirst(1)
            result.sent += 1
        }
        return result
    }

    private static func receive(
        from simulated: VirtualDatagramSocket, atMost count: Int,
        _ body: (Span<UInt8>, SocketAddress) -> Void
    ) -> Received {
        var received = Received()
        for (packet, source) in simulated.receive(atMost: count) {
            body(packet.span, source)
            received.packets += 1
        }
        received.isDrained = received.packets < count
        return received
    }
}

extension SocketAddress.Host {
    /// An IPv4 address as `::ffff:a.b.c.d`; an IPv6 address itself.
    fileprivate var mapped: Self {
        guard case .v4(let number) = self else { return self }
        return .v6(high: 0, low: 0xffff_0000_0000 | UInt64(number))
    }
}

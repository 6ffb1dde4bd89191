#if os(Linux) || os(Android)
    import CPlatform
    package import MultipeerCore
    import MultipeerPlatform

    /// The interfaces of this machine as the kernel reports them.
    package final class NetlinkMonitor: InterfaceTableMonitor {
        private static let room = 65_536
        /// The maximum number of datagrams in one turn; the rest is read in the next.
        private static let batch = 16
        private static let getLink: UInt16 = 18
        private static let getAddress: UInt16 = 22

        private let socket: Descriptor
        private var buffer = [UInt8](repeating: 0, count: NetlinkMonitor.room)
        package private(set) var table = InterfaceTable()

        package var descriptor: Int32? { socket.number }
        /// None: the kernel reports every change.
        package var deadline: Moment? { nil }

        /// Subscribes to every change from here on, and reads the present state.
        package init() throws(SocketFault) {
            let number = Descriptors.admitted(multipeer_linux_open_netlink())
            guard number >= 0 else { throw .last }
            socket = Descriptor(number)
            try list()
        }

        /// Reads the notifications. Returns whether there were any.
        package func read() -> Bool {
            var isNews = false
            for _ in 0..<NetlinkMonitor.batch {
                switch receive() {
                case .messages(let messages):
                    for message in messages { table.apply(message) }
                    isNews = isNews || !messages.isEmpty
                case .nothing: return isNews
                case .overrun:
                    // Some notifications were lost, so all of it is requested again. What cannot be read stays as it was.
                    let before = table
                    do throws(SocketFault) { try list() } catch { table = before }
                    return true
                case .failed: return isNews
                }
            }
            return isNews
        }

        /// Requests everything, and waits for it: the kernel responds at once.
        private func list() throws(SocketFault) {
            for _ in 0..<3 {
                table = InterfaceTable()
                let isWhole = try ask(NetlinkMonitor.getLink)
                if try ask(NetlinkMonitor.getAddress), isWhole { return }
            }
        }

        /// Returns whether the list is whole.
        private func ask(_ kind: UInt16) throws(SocketFault) -> Bool {
            let request = NetlinkMessage.request(kind)
            guard unsafe send(socket.number, request, request.count, 0) == request.count else { throw .last }
            while true {
                switch receive() {
                case .messages(let messages):
                    for message in messages {
                        table.apply(message)
                        switch message {
                        case .done(let isWhole): return isWhole
                        case .failed(let code): throw SocketFault(errno: code)
                        default: break
                        }
                    }
                case .nothing:
                    var waiting = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
                    guard unsafe poll(&waiting, 1, 1_000) > 0 else { throw .timedOut }
                case .overrun: return false
                case .failed(let fault): throw fault
                }
            }
        }

        private enum Received {
            case messages([NetlinkMessage])
            case nothing
            case overrun
            case failed(SocketFault)
        }

        private func receive() -> Received {
            let descriptor = socket.number
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe multipeer_linux_receive_netlink(descriptor, room.baseAddress, UInt(room.count))
            }
            if count >= 0 {
                let bytes = Array(buffer.prefix(count))
                return .messages(NetlinkMessage.read(bytes.span))
            }
            switch errno {
            case EAGAIN: return .nothing
            case EINTR: return .messages([])
            case ENOBUFS: return .overrun
            default: return .failed(.last)
            }
        }
    }
#endif

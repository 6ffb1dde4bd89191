/// A listening socket whose queue is full: the kernel drops every SYN that comes, as a firewall does.
struct FullQueue {
    private let listener: TCPSocket
    private let held: [TCPSocket]

    init() throws(SuiteFault) {
        listener = try TCPSocket.listening(backlog: 0)
        let place = Candidate.loopback(listener.localPort)
        var held: [TCPSocket] = []
        for _ in 0..<4 { held.append(try TCPSocket.dialling(place)) }
        self.held = held
    }

    var candidate: Candidate { .loopback(listener.localPort) }
}

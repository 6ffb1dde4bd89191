// MARK: unreliable messages

extension Rest {
    /// The time in which a path comes up where nothing is in its way, with one failure before.
    private static let pathPatience: Int64 = 25_000_000_000

    /// Both ends of a link have datagrams where both want them.
    func checkPaths() {
        for socket in world.nodes.lazy.filter(\.process.isUp).flatMap(\.links) {
            guard socket.remote >= 0, !socket.wire.isDead, let seat = socket.seat,
                let far = socket.wire.sockets[1 - socket.end]?.seat, isOld(seat), isOld(far),
                seat.datagrams.hasPort, far.datagrams.hasPort,
                socket.wire.nodes.allSatisfy({ world.nodes[$0].host.deafUntil <= world.now })
            else { continue }
            if !seat.datagrams.isUp { world.fail(.datagrams, "\(world.name(socket)) has no datagrams") }
        }
    }

    private func isOld(_ seat: Seat) -> Bool { world.now - seat.since > Rest.pathPatience }
}

// MARK: unreliable messages

extension Quiescence {
    /// The time in which a path comes up where nothing hinders it, after one failure.
    private static let pathTimeout: Int64 = 25_000_000_000

    /// Checks that both ends of a link have datagrams where both want them.
    func checkPaths() {
        for socket in world.nodes.lazy.filter(\.process.isUp).flatMap(\.links) {
            guard socket.remote >= 0, !socket.connection.isDead, let linkState = socket.linkState,
                let far = socket.connection.sockets[1 - socket.end]?.linkState, isOld(linkState), isOld(far),
                linkState.datagrams.hasPort, far.datagrams.hasPort,
                socket.connection.nodes.allSatisfy({ world.nodes[$0].host.deafUntil <= world.now })
            else { continue }
            if !linkState.datagrams.isUp { world.fail(.datagrams, "\(world.name(socket)) has no datagrams") }
        }
    }

    private func isOld(_ linkState: LinkState) -> Bool {
        world.now - linkState.since > Quiescence.pathTimeout
    }
}

// MARK: what goes over links

extension Quiescence {
    /// The time in which a mark is reached where no reader is slow.
    private static let timeout: Int64 = 20_000_000_000

    /// Checks that channels are over, and that no application still waits.
    func checkTraffic(since before: [SendProgress]) {
        for node in nodes {
            for socket in node.links where socket.connection.sockets.allSatisfy({ $0?.linkState != nil }) {
                for channel in socket.connection.channels where !channel.isOver {
                    world.fail(
                        .transfers,
                        "\(world.channels.name(channel)) has delivered \(channel.reader.taken) bytes and has not ended"
                    )
                }
            }
            for mark in node.application.flushRequests.values
            where world.now - mark.since > Quiescence.timeout && !isMoving(mark, since: before) {
                world.fail(
                    .waiters, "peer \(node.index) waits for a mark on connection \(mark.connection.number)")
            }
            for request in node.application.codeRequests.values
            where world.moment(node) > request.since + request.timeout + .seconds(1) {
                world.fail(
                    .waiters,
                    "peer \(node.index) waits too long for the code of connection \(request.connection.number)"
                )
            }
        }
    }

    /// Returns whether messages before the mark are still on their way, which takes long where the credit is small, or wait for
    /// their turn.
    private func isMoving(_ mark: FlushRequest, since before: [SendProgress]) -> Bool {
        guard let former = before.first(where: { $0.connection === mark.connection && $0.end == mark.end })
        else { return false }
        let record = mark.connection.record
        return record.received[1 - mark.end] < mark.sent
            && (record.spent[mark.end] != former.spent || isInTurn(former, before))
    }

    /// Lets both ends of a link ask for its code, and returns its connection; nil where there is no encrypted link.
    func askForCode() -> SimulatedConnection? {
        for node in nodes where node.isHonest {
            guard
                let socket = node.links.first(where: { socket in
                    let far = socket.connection.sockets[1 - socket.end]
                    return socket.connection.key != nil && far?.linkState != nil
                        && world.nodes[socket.remote].isHonest
                }), let far = socket.connection.sockets[1 - socket.end]
            else { continue }
            world.applications.requestCode(on: socket, of: node, within: .seconds(30))
            world.applications.requestCode(on: far, of: world.nodes[socket.remote], within: .seconds(30))
            return socket.connection
        }
        return nil
    }

    func checkCode(_ connection: SimulatedConnection) {
        guard world.failure == nil, connection.sockets.allSatisfy({ $0?.linkState != nil }) else { return }
        let codes = connection.record.codes
        if codes[0] == nil || codes[0] != codes[1] {
            world.fail(
                .codes,
                "both ends of connection \(connection.number) asked, and have \(codes.map { $0 ?? "none" })")
        }
    }
}

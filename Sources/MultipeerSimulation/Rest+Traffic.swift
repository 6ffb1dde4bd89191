// MARK: what goes over links

extension Rest {
    /// A mark that stands in front of no slow reader is reached within this.
    private static let patience: Int64 = 20_000_000_000

    /// Channels are over, and nobody waits in vain.
    func checkTraffic() {
        for node in nodes {
            for socket in node.links where socket.wire.sockets.allSatisfy({ $0?.seat != nil }) {
                for flow in socket.wire.flows where !flow.isOver {
                    world.fail(
                        .transfers,
                        "\(world.channels.name(flow)) has brought \(flow.reader.taken) bytes and is not over")
                }
            }
            for mark in node.application.marks.values where world.now - mark.since > Rest.patience {
                world.fail(.waiters, "peer \(node.index) waits for a mark on wire \(mark.wire.number)")
            }
            for request in node.application.codeRequests.values
            where world.moment(node) > request.since + request.patience + .seconds(1) {
                world.fail(
                    .waiters, "peer \(node.index) waits too long for the code of wire \(request.wire.number)")
            }
        }
    }

    /// Both ends of a link ask for its code; nil where there is no encrypted link.
    func askForCode() -> Wire? {
        for node in nodes where node.isHonest {
            guard
                let socket = node.links.first(where: { socket in
                    let far = socket.wire.sockets[1 - socket.end]
                    return socket.wire.key != nil && far?.seat != nil && world.nodes[socket.remote].isHonest
                }), let far = socket.wire.sockets[1 - socket.end]
            else { continue }
            world.applications.requestCode(on: socket, of: node, within: .seconds(30))
            world.applications.requestCode(on: far, of: world.nodes[socket.remote], within: .seconds(30))
            return socket.wire
        }
        return nil
    }

    func checkCode(_ wire: Wire) {
        guard world.failure == nil, wire.sockets.allSatisfy({ $0?.seat != nil }) else { return }
        let codes = wire.record.codes
        if codes[0] == nil || codes[0] != codes[1] {
            world.fail(
                .codes, "both ends of wire \(wire.number) asked, and have \(codes.map { $0 ?? "none" })")
        }
    }
}

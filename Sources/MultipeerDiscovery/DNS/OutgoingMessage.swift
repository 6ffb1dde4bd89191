/// A message to be sent, before it is encoded and split into packets.
package struct OutgoingMessage: Hashable, Sendable {
    package var message: DNSMessage
    package var scope: UInt32
    package var family: Family
    package var way: Destination

    package init(_ message: DNSMessage, scope: UInt32, family: Family, way: Destination = .multicast) {
        self.message = message
        self.scope = scope
        self.family = family
        self.way = way
    }

    package enum Destination: Hashable, Sendable {
        /// From port 5353 to the group.
        case multicast
        /// From a separate port to the group: responders reply by unicast.
        case ask
        /// From port 5353 to one requester. Port 5353 belongs to another engine, any other to a conventional
        /// resolver.
        case unicast(to: [UInt8], port: UInt16)
    }
}

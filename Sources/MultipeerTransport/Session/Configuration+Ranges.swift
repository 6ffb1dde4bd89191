import MultipeerCore
import MultipeerFraming

// The ranges of the fields of a configuration, decided only here.
extension Session.Configuration {
    /// Throws `.invalidArgument` for the first field that is outside its range.
    func validate() throws(SessionFault) {
        try Self.require(
            .seconds(1) ... .seconds(600) ~= connectTimeout,
            "connectTimeout is 1 to 600 seconds, not \(connectTimeout)")
        try Self.require(
            Limits.smallestMaxMessage...Self.largestMaxMessage ~= maximumMessageSize,
            "maximumMessageSize is 65,536 to 1,073,741,824 bytes, not \(maximumMessageSize)")
        try Self.require(
            1...Self.largestMaxChannels ~= maximumStreams,
            "maximumStreams is 1 to 1,024, not \(maximumStreams)")
        try Self.require(
            keepAliveInterval >= .milliseconds(10),
            "keepAliveInterval is at least 10 milliseconds, not \(keepAliveInterval)")
        try Self.require(
            keepAliveInterval < idleTimeout,
            "keepAliveInterval is shorter than idleTimeout; \(keepAliveInterval) is not shorter than \(idleTimeout)"
        )
        try Self.require(idleTimeout <= .seconds(3_600), "idleTimeout is at most 1 hour, not \(idleTimeout)")
        try Self.require(2...16 ~= maximumPeers, "maximumPeers is 2 to 16, not \(maximumPeers)")
        try validateAddresses()
    }

    private static let largestMaxMessage = 1 << 30
    private static let largestMaxChannels = 1_024

    private func validateAddresses() throws(SessionFault) {
        try Self.require(
            max(listenAddresses.count, advertisedAddresses.count) <= Limits.candidates,
            "a session has at most \(Limits.candidates) addresses to listen at or to advertise")
        for address in listenAddresses {
            try Self.require(
                !address.host.isMulticast && !address.host.isBroadcast, "no session can listen at \(address)")
            try Self.require(
                address.port == 0 || address.port >= 1_024 || !advertisedAddresses.isEmpty,
                "a port below 1,024 is never dialled: \(address)")
        }
        let port = port ?? 0
        try Self.require(
            port == 0 || port >= 1_024 || !advertisedAddresses.isEmpty,
            "a port below 1,024 is never dialled: \(port)")
        try Self.require(
            port == 0 || listenAddresses.allSatisfy { $0.port == 0 || $0.port == port },
            "listenAddresses have other ports than port, which is \(port)")
        for address in advertisedAddresses {
            try Self.require(
                Candidate(address)?.isDialable(allowingLoopback: true) == true,
                "\(address) is never dialled")
        }
    }

    /// The message is only made for a fault: all of them together take as long as a signature.
    private static func require(_ isMet: Bool, _ message: @autoclosure () -> String) throws(SessionFault) {
        if !isMet { throw .invalidArgument(message()) }
    }
}

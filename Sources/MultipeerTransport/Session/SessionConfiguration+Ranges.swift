import MultipeerCore
import MultipeerFraming

// The ranges of the fields of a configuration, decided only here.
extension SessionConfiguration {
    /// Throws `.invalidArgument` for the first field that is outside its range.
    func validate() throws(SessionFault) {
        try Self.require(
            .seconds(1) ... .seconds(600) ~= patience, "patience is 1 to 600 seconds, not \(patience)")
        try Self.require(
            Limits.smallestMaxMessage...Self.largestMaxMessage ~= maxMessage,
            "maxMessage is 65,536 to 1,073,741,824 bytes, not \(maxMessage)")
        try Self.require(
            1...Self.largestMaxChannels ~= maxChannels, "maxChannels is 1 to 1,024, not \(maxChannels)")
        try Self.require(silence >= .milliseconds(10), "silence is 10 milliseconds at least, not \(silence)")
        try Self.require(
            silence < death, "silence is shorter than death; \(silence) is not shorter than \(death)")
        try Self.require(death <= .seconds(3_600), "death is 1 hour at the most, not \(death)")
        try Self.require(2...16 ~= peers, "peers is 2 to 16, not \(peers)")
        try validateAddresses()
    }

    private static let largestMaxMessage = 1 << 30
    private static let largestMaxChannels = 1_024

    private func validateAddresses() throws(SessionFault) {
        try Self.require(
            max(listening.count, advertised.count) <= Limits.candidates,
            "a session listens at, and advertises, \(Limits.candidates) addresses at the most")
        for address in listening {
            try Self.require(
                !address.host.isMulticast && !address.host.isBroadcast, "nobody can listen at \(address)")
            try Self.require(
                address.port == 0 || address.port >= 1_024 || !advertised.isEmpty,
                "a port below 1,024 is never dialled: \(address)")
        }
        for address in advertised {
            try Self.require(
                Candidate(address)?.isDialable(allowingLoopback: true) == true,
                "\(address) is never dialled")
        }
    }

    private static func require(_ isMet: Bool, _ message: String) throws(SessionFault) {
        if !isMet { throw .invalidArgument(message) }
    }
}

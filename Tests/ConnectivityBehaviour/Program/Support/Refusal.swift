import MultipeerConnectivity

/// Service types for which Apple's framework raises an exception that Swift cannot catch, and this one ends the
/// process: each is tried in a process of its own.
enum Refusal {
    /// Makes an advertiser for a type. `MultipeerBehaviour refuse TYPE` does.
    static func pass(_ type: String) {
        let peer = MCPeerID(displayName: "peer")
        _ = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: type)
    }

    /// Returns whether a signal ends a process that makes an advertiser for the type.
    static func ends(_ type: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["refuse", type]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal
    }
}

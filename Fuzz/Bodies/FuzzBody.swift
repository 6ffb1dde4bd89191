/// One harness: any bytes go in, and it throws when the code under it breaks a promise.
///
/// The same body runs under libFuzzer (`Fuzz/Targets`), over files given to a plain build, and in the ordinary tests over
/// everything kept in `Fuzz/Seeds` and `Fuzz/Regressions`. A trap in the code under test is a finding as well.
package struct FuzzBody: Sendable {
    /// Names the target, and the folders of its seeds and regressions.
    package let name: String
    package let run: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    package init(_ name: String, _ run: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.run = run
    }

    package static let all: [FuzzBody] = [
        .connectionData, .tlv, .frameDecoder, .handshake, .certificateChain, .secureChannel, .securePair,
        .datagramChannel, .verificationCode, .reassemblyTurns, .channelMachine, .datagramHeader, .dnsMessage,
        .dnsEngine, .invitation, .membership, .mesh, .netlink, .localText, .facadeArguments,
    ]
}

/// What the code under a harness promised and did not keep.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String
}

/// Throws unless the promise is kept.
func promise(_ kept: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
    if !kept { throw BrokenPromise(description: words()) }
}

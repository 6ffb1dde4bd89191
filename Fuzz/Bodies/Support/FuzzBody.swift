/// One harness: any bytes go in, and it throws when the code under it breaks a promise.
///
/// The same body runs under libFuzzer (`Fuzz/Program`), on files given to a plain build, and in the ordinary tests on
/// everything in `Fuzz/Seeds` and `Fuzz/Regressions`. A trap in the code under test is a finding as well.
package struct FuzzBody: Sendable {
    /// Names the harness, and the folders of its seeds and regressions.
    package let name: String
    package let run: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    package init(_ name: String, _ run: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.run = run
    }

    package static let all: [FuzzBody] = [
        .connectionData, .callEnvelope, .tlv, .frameDecoder, .handshake, .certificateChain, .tlsGreeting,
        .secureChannel,
        .securePair, .datagramChannel, .verificationCode, .codeExchange, .reassemblyTurns, .channelMachine,
        .datagramHeader,
        .dnsMessage, .dnsEngine, .systemDNS, .invitation, .membership, .mesh, .netlink, .localText,
        .facadeArguments,
        .fileBundle, .webURL,
    ]
}

/// A state in which an input is played step by step.
protocol FuzzStage: ~Copyable {
    /// Carries out the step at the front of the input.
    mutating func step(_ input: inout InputReader) throws
    /// Checks what must hold when nothing more happens.
    mutating func settle() throws
}

extension FuzzBody {
    /// Plays an input to its end, or for at most that many steps. What a stage throws is a broken promise, whatever it
    /// is.
    static func play<Stage: FuzzStage & ~Copyable>(
        _ bytes: [UInt8], steps most: Int, on make: (inout InputReader) throws -> Stage
    ) throws(BrokenPromise) {
        var input = InputReader(bytes)
        do {
            var stage = try make(&input)
            var steps = 0
            while !input.isAtEnd, steps < most {
                steps += 1
                try stage.step(&input)
            }
            try stage.settle()
        } catch let broken as BrokenPromise {
            throw broken
        } catch {
            throw BrokenPromise(description: "\(error)")
        }
    }
}

/// A promise that the code under test has broken.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String
}

/// Throws unless the promise is kept.
func promise(_ kept: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
    if !kept { throw BrokenPromise(description: words()) }
}

package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
package import MultipeerLink

/// Settings that no application uses, only simulations, tests and the conformance suite's shim.
package struct SessionOverrides: Sendable {
    /// The simulated machine that runs the session; nil is this one.
    package var host: VirtualHost?
    /// Replaces the port of the configuration.
    package var sharedPort: SharedPort?
    /// Replaces the candidates that connection data would name. Called once it is known where the session listens.
    package var advertising: (@Sendable ([Candidate]) -> [Candidate])?
    /// Replaces the UDP port that is offered to peers.
    package var datagramPort: (@Sendable (UInt16) -> UInt16)?
    /// The timing of a datagram path: its probes, its timeout and its retries.
    package var datagramTiming = DatagramPath.Timing()
    /// How long the trust policy's question may be open. Tests use less.
    package var decision = HandshakeTiming.decision
    /// A peer's message credit, and the credit of a channel, before the first CREDIT, in bytes. Tests use less.
    package var messageCredit = UInt32(Limits.messageCredit)
    package var channelCredit = UInt32(Limits.channelCredit)

    package init() {}
}

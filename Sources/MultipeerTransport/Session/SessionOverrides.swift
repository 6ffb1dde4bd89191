package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
package import MultipeerLink

/// What no application sets: simulations, tests and the conformance suite's shim do.
package struct SessionOverrides: Sendable {
    /// The simulated machine on which the session is; nil is this one.
    package var host: VirtualHost?
    /// Replaces the candidates that connection data would name. Called once it is known where the session listens.
    package var advertising: (@Sendable ([Candidate]) -> [Candidate])?
    /// What is offered instead of the UDP port at which the session receives.
    package var datagramPort: (@Sendable (UInt16) -> UInt16)?
    /// How soon a path of datagrams asks, gives up and tries again.
    package var datagramTiming = DatagramPath.Timing()
    /// How long the trust policy's question may be open. A test is less patient.
    package var decision = HandshakeTiming.decision
    /// What a peer's messages may spend before the first CREDIT, and what may come on a channel before that, in bytes. A
    /// test grants less.
    package var messageCredit = UInt32(Limits.messageCredit)
    package var channelCredit = UInt32(Limits.channelCredit)

    package init() {}
}

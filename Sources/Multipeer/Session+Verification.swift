public import MultipeerIntroduction
import MultipeerTransport

extension Session {
    /// Six digits that are the same on both sides exactly if nobody is between them.
    ///
    /// Show them to your user and ask whether the other side shows the same: by voice, or side by side. When both users
    /// have said yes, the link is theirs alone, even if neither peer could be authenticated before; somebody in the
    /// middle had one guess in a million. When they differ, or the link ends before both have compared, treat it as an
    /// attack: disconnect, and link again only when a user says so, because each new link is a new guess. Until then,
    /// neither send nor show anything.
    ///
    /// The code is made once for each link; asking again gives the same one. The other side's session takes part by
    /// itself: its application asks for the code, before or after, to show it.
    ///
    /// Throws `notConnected` without a link, `notEncrypted` on a plain one, `timedOut` when the other side has not
    /// answered within 10 seconds, `ended` when the link ends first, also because the other side did not keep the rules
    /// of the exchange, and `cancelled` when the task is cancelled.
    public func verificationCode(for peer: PeerID) async throws(MultipeerError) -> String {
        do throws(VerificationFault) {
            return try await driver.verificationCode(for: peer.uid)
        } catch {
            throw MultipeerError(error, with: peer)
        }
    }
}

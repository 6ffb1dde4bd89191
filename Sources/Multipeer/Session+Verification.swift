public import MultipeerCore
import MultipeerEngine
import MultipeerTransport

extension Session {
    /// Six digits that are the same on both sides exactly if nobody is between them.
    ///
    /// Call it when your user wants to compare, and show the digits to them: do they see the same on the other side, by
    /// voice, or side by side? When both users have said yes, the link is theirs alone, even if neither peer could be
    /// authenticated before; somebody in the middle had one guess in a million. When they differ, or the link ends before
    /// both have compared, treat it as an attack: disconnect, and link and ask again only when a user says so, because
    /// each new link is a new guess. Until then, neither send nor show anything.
    ///
    /// The code is made once both applications have asked for it: until yours asks, the session tells nobody anything
    /// about it. Whoever asks first waits, and the other side hears `SessionEvent.verificationRequested`: there, ask
    /// your user before you call this. An application that calls it by itself on each such event lets somebody in the
    /// middle try link after link until two codes are equal, with nobody looking.
    ///
    /// The code is made once for each link, and kept as long as the link lives; asking again gives the same one.
    ///
    /// Throws `notConnected` without a link, `notEncrypted` on a plain one, `timedOut` when the other side has not done
    /// its part within 60 seconds (asking again waits again), `ended` when the link ends first, also because the other
    /// side did not keep the rules of the exchange, and `cancelled` when the task is cancelled, which ends the wait alone.
    public func verificationCode(for peer: PeerID) async throws(MultipeerError) -> String {
        do throws(VerificationFault) {
            return try await driver.verificationCode(for: peer.uid)
        } catch {
            throw MultipeerError(error, with: peer)
        }
    }
}

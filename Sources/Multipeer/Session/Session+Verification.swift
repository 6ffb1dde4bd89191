public import MultipeerCore
import MultipeerEngine
import MultipeerTransport

extension Session {
    /// Returns six digits that are the same on both sides if and only if there is no man in the middle.
    ///
    /// Call it when your user wants to compare, and show the digits: the two users check, by voice or side by side, whether they
    /// see the same ones. When both users have confirmed that, no third party is on the link, even if neither peer could be
    /// authenticated before; a man in the middle had one guess in a million. If the digits differ, or the link ends before both
    /// have compared, treat it as an attack: disconnect, and link and compare again only when a user asks for it, because each new
    /// link is a new guess. Until then, neither send nor show anything.
    ///
    /// The code is made once both applications have requested it: until yours does, the session reveals nothing about it. The
    /// side that requests first waits, and the other side receives `Session.Event.verificationRequested`: when you receive it, ask
    /// your user before you call this. An application that calls it automatically on each such event lets a man in the middle try
    /// link after link until two codes are equal, with no user looking.
    ///
    /// The code is made once for each link and kept as long as the link lives; further calls return the same one.
    ///
    /// Throws `notConnected` without a link, `notEncrypted` on a plain one, `timedOut` when the other side has not done its part
    /// within 60 seconds (calling again waits again), `ended` when the link ends first, also because the other side violated the
    /// rules of the exchange, and `cancelled` when the task is cancelled, which ends only the wait.
    public func verificationCode(for peer: PeerID) async throws(MultipeerError) -> String {
        do throws(VerificationFault) {
            return try await driver.verificationCode(for: peer.uid)
        } catch {
            throw MultipeerError(error, with: peer)
        }
    }
}

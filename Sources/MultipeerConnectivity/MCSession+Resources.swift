import Foundation
import MultipeerIntroduction
import MultipeerTransport

extension SessionCore {
    /// The handler is called once, on the callback queue.
    func sendResource(
        at url: URL, named name: String, to peer: PeerID, _ handler: (@Sendable ((any Error)?) -> Void)?
    ) -> Progress? {
        callbacks.async { handler?(MCError(.unavailable, "resources are not there yet")) }
        return nil
    }

    /// A peer offers a file. Letting go of it declines it.
    func received(_ resource: IncomingResource) async {}
}

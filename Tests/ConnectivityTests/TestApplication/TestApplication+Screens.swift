import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport

// What Apple's framework has windows for.
extension TestApplication {
    /// Advertises with an assistant, which asks about each inviter.
    func assist() {
        guard let session else { return }
        let assistant = MCAdvertiserAssistant(
            serviceType: TestApplication.service, discoveryInfo: nil, session: session,
            configuration: discovery())
        assistant.delegate = self
        assistant.presenter = Consent(handset: self)
        _ = change { held in
            defer { held.assistant = assistant }
            return held.assistant
        }
        assistant.start()
    }

    /// Invites all peers through the browser controller. Ends when a peer is connected.
    @MainActor func choose(thenCancel: Bool) {
        guard let session else { return }
        let browser = MCNearbyServiceBrowser(
            peer: peer, serviceType: TestApplication.service, configuration: discovery())
        let chooser = MCBrowserViewController(browser: browser, session: session)
        let ear = ChooserDelegate(self)
        chooser.delegate = ear
        chooser.onChange = { [weak chooser] in
            guard let chooser else { return }
            for peer in chooser.nearbyPeers where peer.state == .found { chooser.invite(peer.peerID) }
            guard chooser.canFinish else { return }
            chooser.onChange = nil
            if thenCancel { chooser.cancel() } else { chooser.done() }
        }
        change { held in
            held.chooser = chooser
            held.chooserEar = ear
        }
        chooser.start()
    }

    func stopScreens() {
        let held = belongings
        held.assistant?.stop()
        if let chooser = held.chooser { onMain { chooser.stop() } }
    }

    func dropScreensDelegates() {
        let held = belongings
        held.assistant?.delegate = nil
        if let chooser = held.chooser { onMain { chooser.delegate = nil } }
    }

    /// At once where this is the main thread, as from inside a callback there.
    private func onMain(_ body: @escaping @MainActor () -> Void) {
        if Thread.isMainThread {
            MainActor.assumeIsolated(body)
        } else {
            DispatchQueue.main.async(execute: body)
        }
    }
}

extension TestApplication: MCAdvertiserAssistantDelegate {
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        reached(.willPresent)
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        reached(.didDismiss)
    }
}

/// A presenter that accepts for a device.
private struct Consent: MCInvitationPresenter {
    weak let handset: TestApplication?

    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool {
        handset?.noteFound(MCPeerID(invitation.inviter))
        handset?.reached(.asked)
        return true
    }
}

/// The delegate of a device's browser controller.
@MainActor final class ChooserDelegate: NSObject, @MainActor MCBrowserViewControllerDelegate {
    private weak let handset: TestApplication?

    init(_ handset: TestApplication) { self.handset = handset }

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        handset?.reached(.finished)
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        handset?.reached(.cancelled)
    }

    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool {
        handset?.noteFound(peerID)
        handset?.reached(.mayShow)
        return true
    }
}

import MultipeerConnectivity

/// Commands for what has a user interface on Apple's systems, and none here.
extension Device {
    func assistant(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "assist": try assist(words)
        case "stop-assisting": with { $0.assistant }?.stop()
        case "control":
            let (session, type) = (Handed(value: try session), try words.needed(0, "a service type"))
            let hidden = Set(words.dropFirst(1))
            return MainActor.assumeIsolated { Chooser.only.begin(type, session, hiding: hidden) }
        case "choose":
            let name = try words.needed(0, "a peer")
            return MainActor.assumeIsolated { Chooser.only.invite(name) }
        case "nearby": return MainActor.assumeIsolated { Chooser.only.peers }
        case "finish": return MainActor.assumeIsolated { Chooser.only.finish() }
        case "abandon": MainActor.assumeIsolated { Chooser.only.abandon() }
        default: return nil
        }
        return [:]
    }

    /// `assist TYPE yes|no|terminal`: the presenter answers yes or no, or the default one asks.
    private func assist(_ words: Words) throws {
        let assistant = MCAdvertiserAssistant(
            serviceType: try words.needed(0, "a service type"), discoveryInfo: ["by": "assistant"],
            session: try session)
        assistant.delegate = self
        assistant.delegateCallQueue = discoveryQueue
        let answer = try words.needed(1, "an answer")
        if answer != "terminal" { assistant.presenter = Presenter(isWelcoming: answer == "yes") }
        with { $0.assistant = assistant }
        assistant.start()
    }
}

/// A presenter that gives every inviter the same answer.
private struct Presenter: MCInvitationPresenter {
    let isWelcoming: Bool

    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool {
        tell("asked", ["peer": "\(invitation.inviter)", "type": invitation.serviceType])
        return isWelcoming
    }
}

extension Device: MCAdvertiserAssistantDelegate {
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        heard("presenting", advertiserAssistant) { [:] }
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        heard("dismissed", advertiserAssistant) { [:] }
    }
}

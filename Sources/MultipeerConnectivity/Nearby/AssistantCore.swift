import Foundation
import Multipeer
import MultipeerTransport

/// The implementation of an `MCAdvertiserAssistant`, which it does not keep alive, nor its delegate.
final class AssistantCore: Sendable {
    let runs: NearbyRuns<AdvertisingRun>
    private let session: SessionCore
    private let info: DiscoveryInfo
    private let type: Result<ServiceType, MCError>
    private let configuration: DiscoveryConfiguration
    private let owner: Owner

    /// No lock is held during a call of other code.
    private final class Owner: Sendable {
        struct State {
            weak var assistant: MCAdvertiserAssistant?
            weak var delegate: (any MCAdvertiserAssistantDelegate)?
            var presenter: any MCInvitationPresenter = MCTerminalPresenter()
            var failure: MCError?
        }

        let state = Locked(State())

        func withDelegate(_ body: (MCAdvertiserAssistant, any MCAdvertiserAssistantDelegate) -> Void) {
            guard let assistant = state.withLock({ $0.assistant }), let delegate = assistant.delegate
            else { return }
            body(assistant, delegate)
        }
    }

    init(
        _ session: SessionCore, _ info: DiscoveryInfo, _ type: Result<ServiceType, MCError>,
        _ configuration: DiscoveryConfiguration
    ) {
        (self.session, self.info, self.type, self.configuration) = (session, info, type, configuration)
        let owner = Owner()
        self.owner = owner
        runs = NearbyRuns(CallbackQueue("MCAdvertiserAssistant", on: .main)) { error in
            owner.state.withLock { $0.failure = error }
        }
    }

    func with(_ configuration: DiscoveryConfiguration) -> AssistantCore {
        AssistantCore(session, info, type, configuration)
    }

    /// Called once, when the assistant exists.
    func attach(_ assistant: MCAdvertiserAssistant) { owner.state.withLock { $0.assistant = assistant } }

    var delegate: (any MCAdvertiserAssistantDelegate)? {
        get { owner.state.withLock { $0.delegate } }
        set { owner.state.withLock { $0.delegate = newValue } }
    }

    var presenter: any MCInvitationPresenter {
        get { owner.state.withLock { $0.presenter } }
        set { owner.state.withLock { $0.presenter = newValue } }
    }

    var failure: MCError? { owner.state.withLock { $0.failure } }

    func start() {
        switch type {
        case .success(let type): start(type)
        case .failure(let error): owner.state.withLock { $0.failure = error }
        }
    }

    private func start(_ type: ServiceType) {
        runs.start {
            owner.state.withLock { $0.failure = nil }
            let native = Advertiser(
                peer: session.native.peer, service: type, info: info,
                identity: session.native.configuration.identity, configuration: configuration)
            return AdvertisingRun(native) { [weak self] run, invitation in
                await self?.ask(invitation, type, run)
            }
        }
    }

    /// Asks the user; the next invitation waits in the advertiser until this one is over.
    private func ask(_ invitation: Invitation, _ type: ServiceType, _ run: AdvertisingRun) async {
        guard runs.isWanted(run), invitation.isOpen else { return }
        await runs.callbacks.run { [owner] in
            owner.withDelegate { $1.advertiserAssistantWillPresentInvitation($0) }
        }
        let isWanted = await isWanted(invitation, type)
        await runs.callbacks.run { [owner] in
            owner.withDelegate { $1.advertiserAssistantDidDismissInvitation($0) }
        }
        InvitationAnswer(invitation).give(isWanted && runs.isWanted(run) ? session : nil)
    }

    /// Returns the user's answer, as long as it is expected.
    private func isWanted(_ invitation: Invitation, _ type: ServiceType) async -> Bool {
        let question = MCPresentedInvitation(
            inviter: invitation.inviter, invitee: session.native.peer, serviceType: type.name,
            context: invitation.context.map { Data($0) }, isContested: invitation.isContested)
        let presenter = presenter
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await presenter.shouldAccept(question) }
            group.addTask {
                await invitation.waitUntilEnded()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

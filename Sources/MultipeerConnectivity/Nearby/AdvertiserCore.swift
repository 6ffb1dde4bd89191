import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

/// The implementation of an `MCNearbyServiceAdvertiser`, which it does not keep alive, nor its delegate.
final class AdvertiserCore: Sendable {
    let runs: NearbyRuns<AdvertisingRun>
    private let peer: PeerID
    private let info: DiscoveryInfo
    private let type: Result<ServiceType, MCError>
    private let configuration: DiscoveryConfiguration
    private let owner: Owner

    /// No lock is held during a call of other code.
    private final class Owner: Sendable {
        struct State {
            weak var advertiser: MCNearbyServiceAdvertiser?
            weak var delegate: (any MCNearbyServiceAdvertiserDelegate)?
        }

        let state = Locked(State())

        func withDelegate(
            _ body: (MCNearbyServiceAdvertiser, (any MCNearbyServiceAdvertiserDelegate)?) -> Void
        ) {
            guard let advertiser = state.withLock({ $0.advertiser }) else { return }
            body(advertiser, advertiser.delegate)
        }
    }

    init(
        _ peer: PeerID, _ info: DiscoveryInfo, _ type: Result<ServiceType, MCError>,
        _ configuration: DiscoveryConfiguration
    ) {
        (self.peer, self.info, self.type, self.configuration) = (peer, info, type, configuration)
        let owner = Owner()
        self.owner = owner
        runs = NearbyRuns(CallbackQueue("MCNearbyServiceAdvertiser", on: .main)) { error in
            owner.withDelegate { $1?.advertiser($0, didNotStartAdvertisingPeer: error) }
        }
    }

    func with(_ configuration: DiscoveryConfiguration) -> AdvertiserCore {
        AdvertiserCore(peer, info, type, configuration)
    }

    /// Called once, when the advertiser exists.
    func attach(_ advertiser: MCNearbyServiceAdvertiser) {
        owner.state.withLock { $0.advertiser = advertiser }
    }

    var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { owner.state.withLock { $0.delegate } }
        set { owner.state.withLock { $0.delegate = newValue } }
    }

    func start() {
        runs.start(of: type) { type in
            let native = Advertiser(peer: peer, service: type, info: info, configuration: configuration)
            return AdvertisingRun(native) { [runs, owner] run, invitation in
                await runs.callbacks.run {
                    // An inviter is notified of a stop by the stop itself.
                    guard runs.isWanted(run) else { return }
                    owner.withDelegate { advertiser, delegate in
                        let answer = InvitationAnswer(invitation)
                        guard let delegate else { return answer.give(nil) }
                        // Many applications stop advertising when they are invited, and ask their user then.
                        invitation.keep()
                        delegate.advertiser(
                            advertiser, didReceiveInvitationFromPeer: MCPeerID(invitation.inviter),
                            withContext: invitation.context.map { Data($0) }
                        ) { isYes, session in
                            answer.give(isYes ? session?.core : nil)
                        }
                    }
                }
            }
        }
    }
}

/// An advertiser of the native API, from a start to a stop, with the consumer of its invitations, one after the other.
final class AdvertisingRun: NearbyRun {
    private let native: Advertiser
    private let receive: @Sendable (AdvertisingRun, Invitation) async -> Void
    private let taking = Locked<Task<Void, Never>?>(nil)

    init(_ native: Advertiser, _ receive: @escaping @Sendable (AdvertisingRun, Invitation) async -> Void) {
        self.native = native
        self.receive = receive
    }

    func start() async throws(MultipeerError) {
        try await native.start()
        let invitations = native.invitations
        let task = Task { for await invitation in invitations { await receive(self, invitation) } }
        taking.withLock { $0 = task }
    }

    func stop() async {
        taking.withLock { $0.take() }?.cancel()
        await native.stop()
    }
}

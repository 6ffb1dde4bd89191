import MultipeerConnectivity

// Reactive code with a small replacement for Combine, which does not exist here.

// idiom: a subject with subscriptions, in the manner of Combine

final class Subscription: Hashable {
    private let cancel: () -> Void
    init(_ cancel: @escaping () -> Void) { self.cancel = cancel }
    deinit { cancel() }

    static func == (left: Subscription, right: Subscription) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    func store(in set: inout Set<Subscription>) { set.insert(self) }
}

final class Subject<Output> {
    private var receivers: [UUID: (Output) -> Void] = [:]

    func send(_ value: Output) { receivers.values.forEach { $0(value) } }
    func sink(_ receive: @escaping (Output) -> Void) -> Subscription {
        let id = UUID()
        receivers[id] = receive
        return Subscription { [weak self] in self?.receivers[id] = nil }
    }
}

// idiom: subjects for the states and messages of a session

final class SessionPublisher: QuietSessionDelegate {
    let states = Subject<(MCPeerID, MCSessionState)>()
    let data = Subject<(Data, MCPeerID)>()

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        states.send((peerID, state))
    }
    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        self.data.send((data, peerID))
    }
}

// idiom: operators on a subject

extension Subject {
    func compactMap<Other>(_ transform: @escaping (Output) -> Other?) -> (Subject<Other>, Subscription) {
        let other = Subject<Other>()
        return (other, sink { transform($0).map(other.send) })
    }

    func receive(on queue: DispatchQueue) -> (Subject<Output>, Subscription) {
        let other = Subject<Output>()
        return (other, sink { value in queue.async { other.send(value) } })
    }
}

// idiom: a published property, as a property wrapper

@propertyWrapper
final class Observed<Value> {
    let projectedValue = Subject<Value>()
    var wrappedValue: Value { didSet { projectedValue.send(wrappedValue) } }
    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

final class RoomModel: QuietSessionDelegate {
    @Observed var peers: [MCPeerID] = []

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        DispatchQueue.main.async { self.peers = session.connectedPeers }
    }
}

// idiom: a view that stores its subscriptions

final class RoomView {
    private var subscriptions: Set<Subscription> = []
    private(set) var title = ""

    init(_ model: RoomModel, _ events: SessionPublisher) {
        model.$peers.sink { [weak self] in self?.title = "\($0.count) peers" }.store(in: &subscriptions)
        events.states.sink { [weak self] peer, state in self?.title = "\(peer): \(state)" }
            .store(in: &subscriptions)
    }
}

// idiom: an observable in the manner of Rx

struct Observable<Element> {
    let subscribe: (@escaping (Element) -> Void) -> () -> Void
    func map<Other>(_ transform: @escaping (Element) -> Other) -> Observable<Other> {
        Observable<Other> { receive in self.subscribe { receive(transform($0)) } }
    }
}

final class FoundPeers: NSObject, MCNearbyServiceBrowserDelegate {
    private let found = Subject<MCPeerID>()
    var observable: Observable<MCPeerID> {
        Observable { receive in
            let subscription = self.found.sink(receive)
            return { withExtendedLifetime(subscription) {} }
        }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { found.send(peerID) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

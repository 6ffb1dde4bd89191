import MultipeerConnectivity

// Advertising and browsing.

enum Service { static let type = "idiom-chat" }

// idiom: an advertiser with information about the room

func advertiser(for peer: MCPeerID, room: String, isFull: Bool) -> MCNearbyServiceAdvertiser {
    let info = ["room": room, "full": isFull ? "1" : "0", "version": "2"]
    return MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: Service.type)
}

// idiom: discovery information as a type, converted from and to a dictionary

struct RoomInfo: Equatable {
    var room: String
    var players: Int

    init?(_ info: [String: String]?) {
        guard let info, let room = info["room"], let count = info["players"].flatMap(Int.init) else {
            return nil
        }
        (self.room, players) = (room, count)
    }

    var dictionary: [String: String] { ["room": room, "players": String(players)] }
}

// idiom: a browser delegate that keeps a list of nearby peers

final class NearbyList: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var found: [MCPeerID: [String: String]] = [:]
    private(set) var failure: Error?

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { found[peerID] = info ?? [:] }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { found[peerID] = nil }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: Error) {
        failure = error
    }
}

// idiom: an advertiser delegate that accepts every invitation

final class OpenDoor: NSObject, MCNearbyServiceAdvertiserDelegate {
    private let session: MCSession

    init(session: MCSession) {
        self.session = session
        super.init()
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) { invitationHandler(true, session) }
}

// idiom: optional advertiser and browser, created again for each start

final class Finder {
    private let peer = MCPeerID(displayName: "finder")
    private var advertiser: MCNearbyServiceAdvertiser?
    private var browser: MCNearbyServiceBrowser?

    func start(info: [String: String]? = nil) {
        stop()
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: Service.type)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: Service.type)
        advertiser?.startAdvertisingPeer()
        browser?.startBrowsingForPeers()
    }

    func stop() {
        advertiser?.stopAdvertisingPeer()
        browser?.stopBrowsingForPeers()
        (advertiser, browser) = (nil, nil)
    }
}

// idiom: a property that starts and stops advertising

final class Visibility {
    private let advertiser: MCNearbyServiceAdvertiser

    init(_ advertiser: MCNearbyServiceAdvertiser) { self.advertiser = advertiser }

    var isVisible = false {
        didSet {
            guard isVisible != oldValue else { return }
            if isVisible { advertiser.startAdvertisingPeer() } else { advertiser.stopAdvertisingPeer() }
        }
    }
}

// idiom: a lazily created browser

final class LateBrowser {
    private let peer: MCPeerID
    private let list = NearbyList()
    private(set) lazy var browser: MCNearbyServiceBrowser = {
        let browser = MCNearbyServiceBrowser(peer: peer, serviceType: Service.type)
        browser.delegate = list
        return browser
    }()

    init(peer: MCPeerID) { self.peer = peer }
}

// idiom: one browser for each of several service types

func browsers(for peer: MCPeerID, _ types: [String], _ delegate: MCNearbyServiceBrowserDelegate)
    -> [String: MCNearbyServiceBrowser]
{
    types.reduce(into: [:]) { browsers, type in
        let browser = MCNearbyServiceBrowser(peer: peer, serviceType: type)
        browser.delegate = delegate
        browsers[type] = browser
    }
}

// idiom: a service type made from arbitrary text

func serviceType(from text: String) -> String? {
    let allowed = text.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    let type = String(allowed.prefix(15)).trimmingCharacters(in: CharacterSet(charactersIn: "-"))
    return type.contains { $0.isLetter } && !type.contains("--") ? type : nil
}

// idiom: an advertiser assistant and its delegate

final class Host: NSObject, MCAdvertiserAssistantDelegate {
    private let assistant: MCAdvertiserAssistant
    private(set) var isAsking = false

    init(session: MCSession) {
        assistant = MCAdvertiserAssistant(serviceType: Service.type, discoveryInfo: nil, session: session)
        super.init()
        assistant.delegate = self
        assistant.start()
    }

    func close() { assistant.stop() }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        isAsking = true
    }
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        isAsking = false
    }
}

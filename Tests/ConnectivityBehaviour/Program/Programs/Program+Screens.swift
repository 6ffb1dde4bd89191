import MultipeerConnectivity

/// Answers for the user, in place of an alert.
private struct Presenter: MCInvitationPresenter {
    let isYes: Bool

    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool { isYes }
}

/// The delegate of an assistant or of a browser controller.
private final class ScreenDelegate: NSObject, MCAdvertiserAssistantDelegate, MCBrowserViewControllerDelegate {
    private let application: Application
    private let hidden: String?

    init(_ application: Application, hiding hidden: String? = nil) {
        (self.application, self.hidden) = (application, hidden)
    }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        application.note("will present")
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        application.note("did dismiss")
    }

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        application.note("finished")
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        application.note("cancelled")
    }

    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool {
        application.note("asked about \(peerID.displayName) \(info ?? [:])")
        return peerID.displayName != hidden
    }
}

// The assistant that asks the user, and the controller with which a user chooses peers.
extension Program {
    static let screens: [Program] = [
        Program(
            "assistant.accepted",
            "An assistant asks the user, notifies its delegate before and after, and connects on a yes.",
            .assistantDelegate,
            left: { app in
                app.inviteAll()
                try await app.wait("right connected")
                try app.say("hello", to: app.session.connectedPeers[0])
                try await app.posted("done")
            },
            right: { app in
                let delegate = ScreenDelegate(app)
                let assistant = MCAdvertiserAssistant(
                    serviceType: app.serviceType, discoveryInfo: nil, session: app.session)
                assistant.presenter = Presenter(isYes: true)
                assistant.delegate = delegate
                assistant.start()
                try await app.wait("will present", "did dismiss", "left connected", "left: hello")
                app.post("done")
                app.keep(delegate)
            }),
        Program(
            "assistant.declined",
            "When the user says no to an assistant, the inviter receives `.notConnected`.", .assistant,
            left: { app in
                app.inviteAll()
                try await app.wait("right notConnected")
                app.post("done")
            },
            right: { app in
                let delegate = ScreenDelegate(app)
                let assistant = MCAdvertiserAssistant(
                    serviceType: app.serviceType, discoveryInfo: nil, session: app.session)
                assistant.presenter = Presenter(isYes: false)
                assistant.delegate = delegate
                assistant.start()
                try await app.wait("will present", "did dismiss")
                try await app.posted("done")
                app.expect(app.sessionEvents, is: [], "the calls of the session's delegate")
                app.keep(assistant)
                app.keep(delegate)
            }),
        Program(
            "assistant.info",
            "The peer of an assistant is found with its discovery info, and lost when the assistant stops.",
            .assistant,
            left: { app in
                app.onFound = { _, info in app.expect(info, is: ["room": "attic"], "the info") }
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.post("found")
                try await app.wait("lost right")
            },
            right: { app in
                let assistant = MCAdvertiserAssistant(
                    serviceType: app.serviceType, discoveryInfo: ["room": "attic"], session: app.session)
                app.expect(assistant.discoveryInfo, is: ["room": "attic"], "the property")
                app.expect(assistant.serviceType, is: app.serviceType, "the service type")
                app.expect(assistant.session === app.session, "the session is the same object")
                assistant.start()
                try await app.posted("found")
                assistant.stop()
            }),
        Program(
            "assistant.with-advertiser",
            "An assistant can run alongside an advertiser of the same peer and type.",
            .assistant,
            left: { app in
                try await app.posted("advertising")
                app.inviteAll()
                try await app.wait("anna connected", "right connected")
            },
            right: { app in
                let assistant = MCAdvertiserAssistant(
                    serviceType: app.serviceType, discoveryInfo: nil, session: app.session)
                assistant.presenter = Presenter(isYes: true)
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                assistant.start()
                // Connected after the assistant has started, or has failed to.
                let anna = FurtherPeer("anna", in: app)
                anna.advertiser.startAdvertisingPeer()
                app.post("advertising")
                try await app.wait("anna: left connected", "left connected")
                app.expect(assistant.failure == nil, "the assistant has started")
                let failures = app.record.texts(of: .advertiser).filter { $0.hasPrefix("did not") }
                app.expect(failures, is: [], "the failures of the advertiser")
            }),
        Program(
            "controller.limits",
            "A browser controller asks for 2 to 8 peers by default, and for no number outside.",
            .minimumPeers,
            left: { app in
                let controller = MCBrowserViewController(serviceType: app.serviceType, session: app.session)
                app.expect(controller.minimumNumberOfPeers, is: 2, "the minimum")
                app.expect(controller.maximumNumberOfPeers, is: 8, "the maximum")
                controller.minimumNumberOfPeers = 1
                controller.maximumNumberOfPeers = 9
                app.expect(controller.minimumNumberOfPeers, is: 2, "the smallest minimum")
                app.expect(controller.maximumNumberOfPeers, is: 8, "the largest maximum")
                app.expect(controller.session === app.session, "the session is the same object")
                app.expect(controller.browser?.serviceType, is: app.serviceType, "the type of its browser")
            },
            right: { app in
                let browser = app.browser
                let controller = MCBrowserViewController(browser: browser, session: app.session)
                app.expect(controller.browser === browser, "the browser is the given one")
                app.expect(browser.delegate === controller, "its delegate is the controller")
            }),
        Program(
            "controller.finished",
            "A controller finds peers, invites those that the user chooses, and notifies its delegate "
                + "when the user is done.",
            .controllerDelegate,
            left: { app in
                let delegate = ScreenDelegate(app)
                let controller = MCBrowserViewController(serviceType: app.serviceType, session: app.session)
                controller.delegate = delegate
                controller.onChange = { [weak controller] in
                    guard let controller, let peer = controller.nearbyPeers.first else { return }
                    if peer.state == .found { controller.invite(peer.peerID) }
                    if peer.state == .connected { app.note("shown as connected") }
                }
                controller.start()
                app.expect(!controller.done(), "without a peer the user cannot be done")
                try await app.wait("right connected", "shown as connected")
                app.expect(controller.done(), "with a peer the user can be done")
                try await app.wait("finished")
                app.expect(app.session.connectedPeers.count, is: 1, "the peers")
                app.keep(delegate)
            },
            right: { app in try await app.connect() }),
        Program(
            "controller.cancelled", "A user who cancels is reported, and connected peers stay connected.",
            .controllerDelegate,
            left: { app in
                let right = try await app.connect()
                let delegate = ScreenDelegate(app)
                let controller = MCBrowserViewController(serviceType: app.serviceType, session: app.session)
                controller.delegate = delegate
                controller.start()
                controller.cancel()
                try await app.wait("cancelled")
                try app.say("still here", to: right)
                app.keep(delegate)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: still here")
            }),
        Program(
            "controller.hidden", "A controller does not show peers that its delegate does not want.",
            .shouldPresent,
            left: { app in
                let delegate = ScreenDelegate(app, hiding: "anna")
                let controller = MCBrowserViewController(serviceType: app.serviceType, session: app.session)
                controller.delegate = delegate
                controller.onChange = { [weak controller] in
                    for peer in controller?.nearbyPeers ?? [] { app.note("shows \(peer.peerID.displayName)") }
                }
                controller.start()
                try await app.wait("asked about anna [:]")
                app.post("asked")
                try await app.wait("asked about right [\"room\": \"attic\"]", "shows right")
                app.expect(
                    controller.nearbyPeers.map(\.peerID.displayName), is: ["right"],
                    "the peers that are shown")
                app.post("done")
                app.keep(delegate)
            },
            right: { app in
                let anna = FurtherPeer("anna", in: app)
                anna.advertiser.startAdvertisingPeer()
                try await app.posted("asked")
                app.advertise(["room": "attic"])
                try await app.posted("done")
            }),
        Program(
            "controller.full", "A controller invites no more peers than its maximum.", .maximumPeers,
            left: { app in
                let controller = MCBrowserViewController(serviceType: app.serviceType, session: app.session)
                controller.maximumNumberOfPeers = 2
                controller.onChange = { [weak controller] in
                    for peer in controller?.nearbyPeers ?? [] { app.note("shows \(peer.peerID.displayName)") }
                }
                controller.start()
                try await app.wait("shows anna", "shows otto")
                let peers = controller.nearbyPeers.map(\.peerID)
                app.expect(
                    peers.map { controller.invite($0) }, is: [true, false], "which of two are invited")
                app.expect(!controller.canInvite, "no further one can be invited")
                app.post("invited", Data(peers[0].displayName.utf8))
                try await app.wait("\(peers[0].displayName) connected")
                try await app.posted("done")
                app.expect(app.session.connectedPeers, is: [peers[0]], "the peers")
            },
            right: { app in
                let peers = [FurtherPeer("anna", in: app), FurtherPeer("otto", in: app)]
                for peer in peers { peer.advertiser.startAdvertisingPeer() }
                let invited = String(decoding: try await app.posted("invited"), as: UTF8.self)
                try await app.wait("\(invited): left connected")
                for peer in peers where peer.peer.displayName != invited {
                    app.expect(peer.session.connectedPeers, is: [], "the peers of the other one")
                }
                app.post("done")
            }),
    ]
}

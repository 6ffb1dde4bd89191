import Foundation
@preconcurrency import MultipeerConnectivity

/// The view that shows what happens nearby.
@MainActor protocol NeighbourhoodView: AnyObject {
    func show(_ text: String)
    func show(_ event: Device.Event, of device: Device)
}

/// All devices nearby: this one advertises and browses, invites every device, and accepts every invitation.
@MainActor final class Neighbourhood: NSObject {
    weak var view: (any NeighbourhoodView)?
    private let me: MCPeerID
    private let service: String
    private let inbox: URL
    private var devices: [MCPeerID: Device] = [:]
    private var advertiser: MCNearbyServiceAdvertiser?
    private var browser: MCNearbyServiceBrowser?

    init(_ me: MCPeerID, service: String, inbox: URL) {
        (self.me, self.service, self.inbox) = (me, service, inbox)
    }

    var connected: [Device] { devices.values.filter { $0.state == .connected } }

    /// Whether no device is connected or connecting.
    var isAlone: Bool { devices.values.allSatisfy { $0.state == .notConnected } }

    /// Starts or restarts, with new objects and the same id.
    func enterForeground() {
        guard advertiser == nil else { return }
        // All devices nearby can read these.
        let info = ["system": "linux", "since": String(Int(Date.now.timeIntervalSince1970))]
        let advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: info, serviceType: service)
        let browser = MCNearbyServiceBrowser(peer: me, serviceType: service)
        (advertiser.delegate, browser.delegate) = (self, self)
        (self.advertiser, self.browser) = (advertiser, browser)
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    /// Ends everything, so that no peer waits for a program that is not running.
    func enterBackground() {
        advertiser?.stopAdvertisingPeer()
        browser?.stopBrowsingForPeers()
        (advertiser, browser) = (nil, nil)
        for device in devices.values {
            device.isNearby = false
            device.leave()
        }
    }

    private func device(_ peer: MCPeerID) -> Device {
        if let known = devices[peer] { return known }
        let device = Device(peer, me: me, inbox: inbox) { [weak self] in self?.note($0, $1) }
        devices[peer] = device
        return device
    }

    /// Handles an event. A nearby device whose link was lost, or that could not be reached, is invited again after a
    /// second.
    private func note(_ device: Device, _ event: Device.Event) {
        view?.show(event, of: device)
        guard case .changed(.notConnected) = event, device.isNearby else { return }
        Task {
            try await Task.sleep(for: .seconds(1))
            if let browser, device.isNearby { device.invite(through: browser) }
        }
    }

    private func found(_ peer: MCPeerID, _ info: [String: String], by browser: MCNearbyServiceBrowser) {
        guard browser === self.browser else { return }
        let device = device(peer)
        view?.show("found \(device.name), on \(info["system", default: "an unknown system"].printable)")
        device.isNearby = true
        device.invite(through: browser)
    }

    private func lost(_ peer: MCPeerID, by browser: MCNearbyServiceBrowser) {
        guard browser === self.browser else { return }
        device(peer).isNearby = false
    }

    private func invited(
        by peer: MCPeerID, through advertiser: MCNearbyServiceAdvertiser,
        _ answer: @Sendable (Bool, MCSession?) -> Void
    ) {
        guard advertiser === self.advertiser else { return answer(false, nil) }
        device(peer).accept(answer)
    }
}

extension Neighbourhood: MCNearbyServiceBrowserDelegate {
    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async { self.found(peerID, info ?? [:], by: browser) }
    }

    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        DispatchQueue.main.async { self.lost(peerID, by: browser) }
    }

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        DispatchQueue.main.async { self.view?.show("cannot browse: \(error.localizedDescription)") }
    }
}

extension Neighbourhood: MCNearbyServiceAdvertiserDelegate {
    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async { self.invited(by: peerID, through: advertiser, invitationHandler) }
    }

    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        DispatchQueue.main.async { self.view?.show("cannot advertise: \(error.localizedDescription)") }
    }
}

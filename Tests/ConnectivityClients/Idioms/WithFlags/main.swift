// mode: Swift 6, code at the top level
// flags: -swift-version 6

import MultipeerConnectivity

// A command line program without a main function.

// idiom: objects in variables at the top level

let me = MCPeerID(displayName: "cli")
let session = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
var advertiser: MCNearbyServiceAdvertiser? = MCNearbyServiceAdvertiser(
    peer: me, discoveryInfo: ["role": "cli"], serviceType: "idiom-cli")
advertiser?.startAdvertisingPeer()

// idiom: a loop at the top level that sends lines

while let line = readLine(), line != "quit" {
    do {
        try session.send(Data(line.utf8), toPeers: session.connectedPeers, with: .reliable)
    } catch MCError.invalidParameter {
        print("nobody is here")
    } catch {
        print(error.localizedDescription)
    }
}

// idiom: a semaphore at the top level that waits for a handler

let finished = DispatchSemaphore(value: 0)
session.nearbyConnectionData(forPeer: me) { _, error in
    print(error?.localizedDescription ?? "ready")
    finished.signal()
}
_ = finished.wait(timeout: .now() + 5)
advertiser = nil
session.disconnect()

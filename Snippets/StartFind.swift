// The first step of "Getting started".

import Multipeer

let me = try PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann")
let advertiser = try Advertiser(peer: me, service: "start-chat")
let browser = try Browser(peer: me, service: "start-chat")
try await advertiser.start()
try await browser.start()
print("this is \(me); looking for others")

for await event in browser.events {
    switch event {
    case .found(let found): print("found \(found.peer)")
    case .updated: break
    case .lost(let peer): print("\(peer) is gone")
    }
}

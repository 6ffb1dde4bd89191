// Shown in the recipes of the documentation.
// Run it twice, each time with one file for its own connection data and one for the other side's.

// snippet.hide
import Foundation

let paths = CommandLine.arguments.dropFirst()
guard paths.count == 2, let own = paths.first, let other = paths.last else {
    fatalError("usage: TwoPeers OWN-DATA OTHER-DATA")
}
// snippet.show
import Multipeer

let session = try Session(peer: PeerID(displayName: "ann"))
let mine = try await session.connectionData()  // send mine.bytes to the other person over a channel you trust
// snippet.hide
try Data(mine.bytes).write(to: URL(filePath: own), options: .atomic)
print("waiting for \(other)")
while !FileManager.default.fileExists(atPath: other) { try await Task.sleep(for: .milliseconds(100)) }
let bytes = [UInt8](try Data(contentsOf: URL(filePath: other)))
// snippet.show

let theirs = try ConnectionData(bytes)  // and receive theirs
try await session.connect(with: theirs)
try await session.send(Array("hello".utf8), to: theirs.peer)

for await event in session.events {
    print(event)
    if case .peer(theirs.peer, .notConnected) = event { break }
}
await session.disconnect()

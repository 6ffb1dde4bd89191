// Sends a file to the first receiver on the network, or receives files, with the progress of both.
// Run it as `Files NAME` to receive, and as `Files NAME FILE` to send.

// snippet.show
import Foundation
import Multipeer

func send(_ file: URL, as me: PeerID) async throws {
    let browser = try Browser(peer: me, service: "files")
    try await withSession(peer: me) { session in
        try await browser.run { events in
            for await case .found(let found) in events {
                try await browser.invite(found.peer, to: session)
                let sending = try await session.send(file: file, to: found.peer)
                for await progress in sending.progress { print(progress) }
                return try await sending.waitUntilReceived()  // complete, with the same SHA-256
            }
        }
    }
}

func receive(into folder: URL, as me: PeerID) async throws {
    let advertiser = try Advertiser(peer: me, service: "files")
    try await withSession(peer: me) { session in
        async let advertising: Void = advertiser.run(into: session) { _ in true }
        for await file in session.incomingResources {
            async let saved = file.receive(into: folder)
            for await progress in file.progress { print(progress) }
            do { print("saved as \(try await saved.path)") } catch { print(error) }
        }
        try await advertising
    }
}
// snippet.hide

let arguments = CommandLine.arguments.dropFirst()
let me = try PeerID(displayName: arguments.first ?? "ann")
if let file = arguments.dropFirst().first {
    try await send(URL(filePath: file), as: me)
} else {
    let inbox = URL(filePath: "inbox")
    try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
    try await receive(into: inbox, as: me)
}

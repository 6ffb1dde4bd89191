// Shown in the recipes of the documentation.
// One process with two sessions that link over loopback: bob sends back each message of ann.

// snippet.hide
import Foundation
import Multipeer

func loopback(_ name: String) throws -> Session {
    var configuration = Session.Configuration()
    configuration.listenAddresses = [.loopback]
    return try Session(peer: PeerID(displayName: name), configuration: configuration)
}

func answer(_ session: Session, to ann: PeerID) async throws {
    var isDone = (stream: false, file: false)
    for await event in session.events {
        switch event {
        case .stream(let stream):
            let back = try await session.openStream(to: ann, name: stream.name)
            for try await bytes in stream { try await back.write(bytes) }
            try await back.finish()
            isDone.stream = true
        case .resource(let file):
            let kept = try await file.receive()
            try await session.send(file: kept.url, to: ann, name: kept.name).waitUntilReceived()
            isDone.file = true
        default: break
        }
        if isDone == (true, true) { return await session.disconnect() }
    }
}

let (session, other) = (try loopback("ann"), try loopback("bob"))
let (mine, theirs) = (try await session.connectionData(), try await other.connectionData())
let bob = other.peer
let answering = Task {
    try await other.connect(with: mine)
    try await answer(other, to: mine.peer)
}
try await session.connect(with: theirs)
_ = FileManager.default.createFile(atPath: "photo.jpg", contents: Data("a picture, as it were".utf8))
// snippet.show
let stream = try await session.openStream(to: bob, name: "log")  // bytes in order, with flow control
try await stream.write(Array("first line".utf8))
try await stream.finish()

let sending = try await session.send(file: URL(filePath: "photo.jpg"), to: bob)
for await progress in sending.progress { print(progress.fractionCompleted ?? 0) }
try await sending.waitUntilReceived()  // bob has closed the file, and verified its size and SHA-256

try await session.send([1, 2, 3], to: bob, delivery: .unreliable)  // over DTLS, if UDP is not blocked

for await event in session.events {
    switch event {
    case .stream(let stream): for try await bytes in stream { print(bytes.count) }
    case .resource(let file): print(try await file.receive().path)
    // snippet.hide
    case .peer(_, .notConnected):
        try await answering.value
        exit(0)
    // snippet.show
    default: break
    }
}

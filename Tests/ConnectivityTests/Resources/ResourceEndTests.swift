import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: how resources end early", .inTurns)
struct ResourceEndTests {
    enum Who: CaseIterable, Sendable {
        case sender, receiver, sendersParent
    }

    @Test(
        "cancelling on either side ends the transfer once on both, and leaves no file",
        arguments: Who.allCases)
    func cancel(_ who: Who) async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let name = "cancelled-by-\(who)"
        let parent = Progress(totalUnitCount: 10)
        let (progress, outcome) = exchange.send(try folder.endless(beginning: name), name, as: 10, of: parent)
        let sending = try #require(progress)
        let receiving = try await exchange.bob.recorder.start(name)
        let path = try await openFile(name)
        switch who {
        case .sender: sending.cancel()
        case .receiver: receiving.cancel()
        case .sendersParent: parent.cancel()
        }
        #expect(try await outcome.value()?.code == .cancelled)
        let (url, error) = try await exchange.bob.recorder.finish(name)
        #expect(url == nil)
        #expect(error?.code == .cancelled)
        #expect(sending.fractionCompleted < 1 && receiving.fractionCompleted < 1)
        #expect(sending.isCancelled == (who != .receiver) && receiving.isCancelled == (who == .receiver))
        try await expectNothing(at: path, exchange)
        exchange.end()
    }

    @Test("a transfer cancelled in the callback that announces it, or before, ends as cancelled")
    func cancelAtOnce() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        exchange.bob.recorder.react { _, heard in heard.start("at the receiver")?.cancel() }
        let (_, first) = exchange.send(try folder.endless(), "at the receiver")
        #expect(try await first.value()?.code == .cancelled)
        #expect(try await exchange.bob.recorder.finish("at the receiver").error?.code == .cancelled)
        let (progress, second) = exchange.send(try folder.endless(), "at the sender")
        progress?.cancel()
        #expect(try await second.value()?.code == .cancelled)
        let parent = Progress(totalUnitCount: 1)
        parent.cancel()
        let (late, third) = exchange.send(try folder.endless(), "of a cancelled parent", as: 1, of: parent)
        #expect(late?.isCancelled == true)
        #expect(try await third.value()?.code == .cancelled)
        let isOver = DispatchSemaphore(value: 0)
        let silent = try WebServer { _, _ in isOver.wait() }
        let (web, fourth) = exchange.send(try silent.url("/"), "of the web")
        web?.cancel()
        #expect(try await fourth.value()?.code == .cancelled)
        isOver.signal()
        exchange.end()
    }

    enum End: CaseIterable, Sendable {
        case senderDisconnects, receiverDisconnects, senderGoes, receiverGoes
    }

    @Test(
        "when a session ends, so does its transfer, as notConnected, once on each side that remains",
        arguments: End.allCases)
    func sessionEnds(_ end: End) async throws {
        let folder = Folder()
        let name = "ended-as-\(end)"
        let (anns, bobs) = (Recorder(), Recorder())
        var ann: MCSession? = MCSession.loopback("ann", anns)
        var bob: MCSession? = MCSession.loopback("bob", bobs)
        try await MCSession.connect(try #require(ann), anns, try #require(bob), bobs)
        let outcome = Outcome()
        let progress = ann?.sendResource(
            at: try folder.endless(beginning: name), withName: name, toPeer: try #require(bob?.myPeerID)
        ) { outcome.settle($0) }
        let receiving = try await bobs.start(name)
        let path = try await openFile(name)
        switch end {
        case .senderDisconnects: ann?.disconnect()
        case .receiverDisconnects: bob?.disconnect()
        case .senderGoes: ann = nil
        case .receiverGoes: bob = nil
        }
        #expect(try await outcome.value()?.code == .notConnected)
        if end == .receiverGoes {
            while FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(1)) }
            #expect(!bobs.log.all.contains { $0.finish(name) != nil })
        } else {
            let (url, error) = try await bobs.finish(name)
            #expect(url == nil)
            #expect(error?.code == .notConnected)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        #expect(progress?.isFinished == false && !receiving.isFinished)
        ann?.disconnect()
        bob?.disconnect()
    }

    /// The path of the file that is being received: the only one with that beginning that this process has open.
    private func openFile(_ name: String) async throws -> String {
        try await soon {
            while true {
                let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                let paths = links.compactMap { link in
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
                }
                // Until it is complete, its name says nothing.
                let path = paths.first { path in
                    guard path.hasSuffix(".part"), let file = FileHandle(forReadingAtPath: path) else {
                        return false
                    }
                    return (try? file.read(upToCount: name.utf8.count)) == Data(name.utf8)
                }
                if let path { return path }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func expectNothing(at path: String, _ exchange: ConnectedPair) async throws {
        try await exchange.talk("done")
        #expect(!FileManager.default.fileExists(atPath: path))
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try await soon {
            while FileManager.default.fileExists(atPath: folder) {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}

extension MCSession {
    static func loopback(_ name: String, _ delegate: any MCSessionDelegate) -> MCSession {
        let session = MCSession(
            peer: MCPeerID(displayName: name), securityIdentity: nil, encryptionPreference: .required,
            configuration: Member.loopback)
        session.delegate = delegate
        return session
    }

    static func connect(
        _ one: MCSession, _ ones: Recorder, _ other: MCSession, _ others: Recorder
    ) async throws {
        let mine = try await one.nearbyConnectionData(forPeer: other.myPeerID)
        let theirs = try await other.nearbyConnectionData(forPeer: one.myPeerID)
        one.connectPeer(other.myPeerID, withNearbyConnectionData: theirs)
        other.connectPeer(one.myPeerID, withNearbyConnectionData: mine)
        try await ones.hears(.connected, of: other.myPeerID)
        try await others.hears(.connected, of: one.myPeerID)
    }
}

public import Foundation
import Multipeer
import MultipeerTransport

/// A file as an argument or as the result of a distributed method.
///
/// ```swift
/// distributed func develop(_ picture: SentFile) async throws -> SentFile {
///     let place = try await picture.receive()
///     return SentFile(place)
/// }
/// ```
///
/// The file goes beside the call, with its digest; nothing of it is written before `receive`. Whoever sends it keeps it as
/// it is until then.
public struct SentFile: Sendable {
    private enum Origin: Sendable {
        case here(URL)
        case peer(ExpectedTransfer)
    }

    private let origin: Origin
    /// What the sender calls it: a label for people, never a path.
    public let name: String

    /// A file of this side, to be sent with a call. It may go with several.
    public init(_ url: URL) {
        origin = .here(url)
        name = url.lastPathComponent
    }

    /// Receives it into `directory`, or into a temporary one, under a random name, and returns where it is. Once for each
    /// call that it came with. It is the application's from here on: to move, or to remove.
    ///
    /// Throws what `IncomingResource.receive(into:)` throws, and `ActorCallError` when the link ends before it came, or the
    /// peer has not offered it for 30 seconds.
    public func receive(into directory: URL? = nil) async throws -> URL {
        switch origin {
        case .here(let url): return try SentFile.copy(url, into: directory)
        case .peer(let expectedTransfer):
            switch try await expectedTransfer.arrival() {
            case .file(let file): return try await file.receive(into: directory).url
            case .place(let url): return try SentFile.copy(url, into: directory)
            case .stream, .pipe, .failed:
                throw ActorCallError(.coding, "the peer could not send the file \(name)")
            }
        }
    }

    /// A call within this process has a file of its own, too.
    private static func copy(_ url: URL, into directory: URL?) throws -> URL {
        let place = (directory ?? FileManager.default.temporaryDirectory).appendingPathComponent(
            AttachmentToken.make())
        try FileManager.default.copyItem(at: url, to: place)
        return place
    }
}

extension SentFile: Codable {
    private enum CodingKeys: String, CodingKey { case token = "t", name = "n" }

    /// For the actor system: a file that a peer sends with a call.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        origin = .peer(try decoder.expectedTransfer(try container.decode(String.self, forKey: .token)))
    }

    /// For the actor system: sends the file with a call.
    public func encode(to encoder: any Encoder) throws {
        guard let attachments = encoder.userInfo[.attachments] as? Attachments, case .here(let url) = origin
        else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a file of this side goes with a call of an actor, and nowhere else"))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attachments.add(.file(url)), forKey: .token)
        try container.encode(name, forKey: .name)
    }
}

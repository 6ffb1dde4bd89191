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
/// The file is sent alongside the call, with its digest; nothing is written before `receive`. Until then the sender keeps the file
/// unchanged.
public struct SentFile: Sendable {
    private enum Origin: Sendable {
        case here(URL)
        case peer(ExpectedTransfer)
    }

    private let origin: Origin
    /// The sender's name for it: a label for people, never a path.
    public let name: String

    /// Creates a reference to a local file, to be sent with one or several calls.
    public init(_ url: URL) {
        origin = .here(url)
        name = url.lastPathComponent
    }

    /// Receives it into `directory`, or into a temporary one, under a random name, and returns its URL. Once for each call that
    /// it was sent with. From then on the application owns the file, and moves or removes it.
    ///
    /// Throws the errors of `IncomingResource.receive(into:)`, and `ActorCallError` when the link ends before it arrived, or the
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

    /// A call within this process gets its own copy, too.
    private static func copy(_ url: URL, into directory: URL?) throws -> URL {
        let place = (directory ?? FileManager.default.temporaryDirectory).appendingPathComponent(
            AttachmentToken.make())
        try FileManager.default.copyItem(at: url, to: place)
        return place
    }
}

extension SentFile: Codable {
    private enum CodingKeys: String, CodingKey { case token = "t", name = "n" }

    /// Decodes a file that a peer sends with a call. Only for the actor system.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        origin = .peer(try decoder.expectedTransfer(try container.decode(String.self, forKey: .token)))
    }

    /// Sends the file with a call. Only for the actor system.
    public func encode(to encoder: any Encoder) throws {
        guard let attachments = encoder.userInfo[.attachments] as? Attachments, case .here(let url) = origin
        else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a local file can only be sent with a call of an actor"))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attachments.add(.file(url)), forKey: .token)
        try container.encode(name, forKey: .name)
    }
}

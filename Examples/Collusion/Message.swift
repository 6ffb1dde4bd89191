import Foundation

/// The messages between devices, as JSON.
enum Message: Codable, Sendable {
    /// This round has begun; a file of the same round follows.
    case hello(round: Int)
    /// The hello and the file of that round were received.
    case thanks(round: Int)
    /// A line that a user typed.
    case text(String)

    init(_ data: Data) throws { self = try JSONDecoder().decode(Message.self, from: data) }

    var data: Data { get throws { try JSONEncoder().encode(self) } }
}

extension String {
    /// The text without control characters: what others send is shown on a terminal.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}

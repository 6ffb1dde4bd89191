import Foundation

/// What devices say to each other, as JSON.
enum Message: Codable, Sendable {
    /// Round so-and-so has begun; a file of the same round comes with it.
    case hello(round: Int)
    /// The hello and the file of that round are here.
    case thanks(round: Int)
    /// What somebody typed.
    case text(String)

    init(_ data: Data) throws { self = try JSONDecoder().decode(Message.self, from: data) }

    var data: Data { get throws { try JSONEncoder().encode(self) } }
}

extension String {
    /// Without control characters: what others send is shown on a terminal.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}

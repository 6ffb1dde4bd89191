/// The number of a file and the total: `multipeer send` puts them into its metadata, so that the receiver knows at the end
/// which files are missing.
package struct FilePosition: Equatable, Sendable {
    package let number: Int
    package let count: Int
    /// The most files of one run of `multipeer send`.
    package static let most = 100_000

    package init(_ number: Int, of count: Int) {
        self.number = number
        self.count = count
    }

    /// Returns nil for any other metadata.
    package init?(metadata: [UInt8]?) {
        guard let metadata, metadata.count <= 15 else { return nil }
        let parts = metadata.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.joined().allSatisfy({ (48...57).contains($0) }),
            let number = Int(String(decoding: parts[0], as: UTF8.self)),
            let count = Int(String(decoding: parts[1], as: UTF8.self)),
            (1...FilePosition.most).contains(count), (1...count).contains(number)
        else { return nil }
        self.init(number, of: count)
    }

    /// Reads the number of a file from metadata that may have more after it, which may be of any form.
    init?(prefixOf metadata: [UInt8]?) {
        self.init(metadata: metadata.map { Array($0.prefix { $0 != 32 && $0 != 10 }) })
    }

    package var metadata: [UInt8] { Array("\(number)/\(count)".utf8) }

    /// What a line shows; a single file needs no number.
    var shown: FilePosition? { count > 1 ? self : nil }
}

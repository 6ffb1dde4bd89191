/// Which of how many files one is: what `multipeer send` puts into its metadata, so that the other side knows what is
/// missing when it ends.
package struct FilePosition: Equatable, Sendable {
    package let number: Int
    package let count: Int
    private static let most = 1_000_000

    package init(_ number: Int, of count: Int) {
        self.number = number
        self.count = count
    }

    /// Nil for metadata of anybody else.
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

    package var metadata: [UInt8] { Array("\(number)/\(count)".utf8) }

    /// What a line shows; one file alone needs no number.
    var shown: FilePosition? { count > 1 ? self : nil }
}

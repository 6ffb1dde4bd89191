/// What `multipeer send` puts into the metadata of a bundle: its number, and how many files there are in all.
///
/// As text, `bundle/1 7/10000`. Only a receiver that has said that it takes bundles is sent any.
package struct BundlePosition: Equatable, Sendable {
    package let number: Int
    package let files: Int

    private static let head = "bundle/1 "

    package init(_ number: Int, files: Int) {
        self.number = number
        self.files = files
    }

    /// Returns nil for any other metadata.
    package init?(metadata: [UInt8]?) {
        guard let metadata, metadata.starts(with: BundlePosition.head.utf8),
            let position = FilePosition(metadata: Array(metadata.dropFirst(BundlePosition.head.utf8.count)))
        else { return nil }
        self.init(position.number, files: position.count)
    }

    package var metadata: [UInt8] { Array("\(BundlePosition.head)\(number)/\(files)".utf8) }
}

package import MultipeerCommandLine

/// A QR code on a terminal: dark modules are black and light ones white, whatever the terminal's own colours are.
package struct QRPicture: Equatable, Sendable {
    private let code: QRCode
    /// Whether two modules, one above the other, are one character: a half block, which is not in ASCII. Otherwise a module is
    /// two spaces.
    private let hasHalves: Bool

    package init(_ code: QRCode, hasHalves: Bool) {
        self.code = code
        self.hasHalves = hasHalves
    }

    private var side: Int { code.size + 2 * QRCode.quietZone }

    package var width: Int { hasHalves ? side : 2 * side }

    package var height: Int { hasHalves ? (side + 1) / 2 : side }

    /// The lines, each with its colours.
    package var lines: [String] {
        let places = -QRCode.quietZone..<(code.size + QRCode.quietZone)
        return stride(from: places.lowerBound, to: places.upperBound, by: hasHalves ? 2 : 1).map { y in
            let row = places.map { x in
                hasHalves ? half(code[x, y], code[x, y + 1]) : "\u{1b}[\(code[x, y] ? 40 : 47)m  "
            }
            return (hasHalves ? "\u{1b}[30;47m" : "") + row.joined() + "\u{1b}[0m"
        }
    }

    private func half(_ isUpperDark: Bool, _ isLowerDark: Bool) -> String {
        switch (isUpperDark, isLowerDark) {
        case (true, true): "\u{2588}"
        case (true, false): "\u{2580}"
        case (false, true): "\u{2584}"
        case (false, false): " "
        }
    }
}

extension QRPicture {
    package static let option = Usage.Option(
        "--qr", "also show the code, or your connection data, as a QR code; for phones and other cameras")

    /// Returns the lines to show for a text, or why there are none: the text is shown, too. The last line of the terminal is that
    /// of the cursor.
    package static func lines(
        for text: String, width: Int, height: Int, hasScreen: Bool, isUTF8: Bool
    ) -> [String] {
        guard hasScreen else { return ["no QR code: this is not a terminal with colours"] }
        guard let code = QRCode(Array(text.utf8)) else {
            return ["no QR code: \(text.utf8.count) bytes are too long for one"]
        }
        let picture = QRPicture(code, hasHalves: isUTF8)
        guard picture.width <= width, picture.height < height else {
            return [
                "no QR code: it needs \(picture.width) columns and \(picture.height + 1) lines, and the terminal has \(width) "
                    + "and \(height)\(isUTF8 ? "" : ", in a locale without UTF-8")"
            ]
        }
        return picture.lines
    }

    /// Returns the same for the terminal on standard error.
    static func lines(for text: String) -> String {
        let size = Terminal.size(of: .error)
        let lines = lines(
            for: text, width: size.width, height: size.height, hasScreen: Terminal.hasScreen(.error),
            isUTF8: OutputEncoding.isUTF8)
        return lines.map { "\($0)\n" }.joined()
    }
}

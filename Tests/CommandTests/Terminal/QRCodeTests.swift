import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: QR codes", .computing)
struct QRCodeTests {
    /// Letters of base64, as connection data has them.
    private static func text(_ count: Int) -> [UInt8] {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-".utf8)
        return (0..<count).map { letters[($0 * 7_919 + $0 / 13) % letters.count] }
    }

    private static func digest(_ code: QRCode) -> String {
        let modules = (0..<code.size).flatMap { y in (0..<code.size).map { code[$0, y] ? UInt8(1) : 0 } }
        return String(SHA256.hash(modules).hexadecimal.prefix(16))
    }

    @Test("the codewords that correct errors are those of a published example of version 1-M")
    func reedSolomon() {
        let data: [UInt8] = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
        #expect(
            ReedSolomon(count: 10).remainder(of: data) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
    }

    @Test("the capacities are those of table 7")
    func capacities() {
        let known = [
            (1, 17, 14), (2, 32, 26), (7, 154, 122), (9, 230, 180), (10, 271, 213), (27, 1_465, 1_125),
            (32, 1_952, 1_538),
            (40, 2_953, 2_331),
        ]
        for (number, low, medium) in known {
            #expect(QRVersion(number: number, level: .low).capacity == low)
            #expect(QRVersion(number: number, level: .medium).capacity == medium)
        }
        #expect(QRVersion.smallest(for: 14) == QRVersion(number: 1, level: .medium))
        #expect(QRVersion.smallest(for: 15) == QRVersion(number: 1, level: .low))
        #expect(QRVersion.smallest(for: 2_953)?.number == 40)
        #expect(QRCode(QRCodeTests.text(2_954)) == nil)
    }

    /// Each was read by zbar, as were codes of all versions at both levels, filled to the last byte.
    @Test(
        "codes are those that another program has read",
        arguments: [
            (14, "59cc9c9fba5cb3b8"), (15, "5987701172aed62f"), (26, "89bfa7584699447c"),
            (122, "a440e198168df256"), (154, "5becad2ff22cb670"), (271, "bf906a48001f0ce6"),
            (1_465, "3e8ea4fb32f1135f"),
            (2_331, "27a953b29bc84479"), (2_953, "7b444fed84ade234"),
        ])
    func digests(_ count: Int, _ digest: String) throws {
        #expect(QRCodeTests.digest(try #require(QRCode(QRCodeTests.text(count)))) == digest)
    }

    @Test("a code fits a terminal of 80 columns and 24 lines, with the quiet zone, black on white")
    func picture() throws {
        let lines = QRPicture.lines(
            for: "7-guitar-island", width: 80, height: 24, hasScreen: true, isUTF8: true)
        #expect(lines.count == 15)
        let light = String(repeating: " ", count: 29)
        #expect(lines[0] == "\u{1b}[30;47m\(light)\u{1b}[0m" && lines[1] == lines[0])
        #expect(
            lines[2].hasPrefix("\u{1b}[30;47m    \u{2588}\u{2580}\u{2580}\u{2580}\u{2580}\u{2580}\u{2588} "))
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1b}[30;47m") && $0.hasSuffix("\u{1b}[0m") })
        #expect(lines.allSatisfy { String($0.dropFirst(8).dropLast(4)).columns == 29 })
    }

    @Test("without half blocks a module is two spaces")
    func ascii() {
        let lines = QRPicture.lines(
            for: "7-guitar-island", width: 80, height: 40, hasScreen: true, isUTF8: false)
        #expect(lines.count == 29)
        #expect(lines.joined().utf8.allSatisfy { $0 < 0x80 })
        #expect(lines[4].hasPrefix(String(repeating: "\u{1b}[47m  ", count: 4) + "\u{1b}[40m  "))
    }

    @Test(
        "where a code does not fit it is not shown, and a line says why",
        arguments: [
            (28, 24, true, true, "needs 29 columns and 16 lines, and the terminal has 28 and 24"),
            (80, 15, true, true, "needs 29 columns and 16 lines, and the terminal has 80 and 15"),
            (
                80, 24, true, false,
                "needs 58 columns and 30 lines, and the terminal has 80 and 24, in a locale without UTF-8"
            ),
            (80, 24, false, true, "this is not a terminal with colours"),
        ])
    func refused(_ width: Int, _ height: Int, _ hasScreen: Bool, _ isUTF8: Bool, _ reason: String) {
        let lines = QRPicture.lines(
            for: "7-guitar-island", width: width, height: height, hasScreen: hasScreen, isUTF8: isUTF8)
        #expect(lines.count == 1 && lines[0].hasPrefix("no QR code: ") && lines[0].hasSuffix(reason))
    }
}

@Suite("Command: QR codes of commands", .serialized, .inTurns)
struct QRCommandTests {
    @Test("--qr shows a new code as a QR code, after the text")
    func code() async throws {
        let command = try Command(
            ["receive", "--code", "new", "--qr", "--timeout", "1", "--type", ServiceType.random()],
            environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8"], through: TerminalUser.wrapper)
        let user = TerminalUser(command)
        let code = try await user.sees(#/send FILE --code ([0-9a-z-]+) --type/#)
        _ = try await user.end()
        let lines = QRPicture.lines(for: code, width: 80, height: 24, hasScreen: true, isUTF8: true)
        #expect(user.screen.contains(lines.joined(separator: "\r\n")))
    }

    @Test("--qr in a pipe says why there is none, and the text is shown")
    func pipe() async throws {
        let ending = try await Command.run(
            "receive", "--code", "new", "--qr", "--timeout", "1", "--type", ServiceType.random())
        #expect(ending.errors.contains("no QR code: this is not a terminal with colours\n"))
        #expect(ending.errors.contains("send FILE --code "))
    }

    @Test(
        "--qr is an error where neither a code nor connection data is shown",
        arguments: [
            ["receive", "--yes", "--qr"], ["link", "ann", "--qr"], ["chat", "--qr"],
            ["7-guitar-island", "--qr"],
        ])
    func nothing(_ words: [String]) async throws {
        let ending = try await Command(words).finish()
        #expect(ending.code == 2)
        #expect(ending.errors.contains("--qr shows "))
    }
}

import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: base64", .computing)
struct Base64Tests {
    @Test("the examples of RFC 4648, 10, in both directions")
    func examples() {
        let texts = ["Zg==": "f", "Zm8=": "fo", "Zm9v": "foo", "Zm9vYg==": "foob", "Zm9vYmE=": "fooba"]
        for (encoded, text) in texts {
            #expect(Base64.encode(Array(text.utf8)) == encoded)
            #expect(Base64.decode(encoded) == Array(text.utf8))
        }
        #expect(Base64.encode([]).isEmpty)
    }

    @Test("any bytes have the same text as Foundation's, and survive a round trip")
    func others() {
        var seed = Seeded(1)
        for count in 1...200 {
            let bytes = seed.bytes(count)
            #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test("white space is ignored, and anything else is not base64")
    func refused() {
        #expect(Base64.decode(" Zm 9v\r\n") == Array("foo".utf8))
        for text in [
            "", " ", "Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v=", "Z=m9", "Zm-_", "Zm\u{e9}v", "=Zm9",
        ] {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
    }
}

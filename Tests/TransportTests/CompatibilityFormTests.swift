import Foundation
import MultipeerTransport
import TestSupport
import Testing

@Suite("3 Compatibility form", .computing)
struct CompatibilityFormTests {
    @Test("each character has the decomposition that Foundation has, up to canonical equivalence")
    func all() {
        var wrong: [UInt32] = []
        for value in Array(UInt32(0x80)...0x1FFFF) + Array(0x2F800...0x2FA1F) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(Character(scalar))
            if CompatibilityForm.decomposed(text) != text.decomposedStringWithCompatibilityMapping {
                wrong.append(value)
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(10).map { String($0, radix: 16) })")
    }

    @Test("every character of a text is decomposed, and one that has none stays")
    func texts() {
        #expect(CompatibilityForm.decomposed("ﬁ ½ ｅ") == "fi 1⁄2 e")
        #expect(CompatibilityForm.decomposed("ann 👋") == "ann 👋")
    }
}

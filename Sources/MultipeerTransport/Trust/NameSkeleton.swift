import MultipeerCore

/// What a name looks like: two names that a reader can take for each other have a form in common. These are the skeletons of
/// UTS 39, section 4, with prototypes in ASCII only, and regardless of case and spaces.
package struct NameSkeleton: Hashable, Sendable {
    private let form: String
    private let smallForm: String

    /// A capital letter may look like another letter than its small one, so both are taken.
    package init(_ name: String) {
        let decomposed = CompatibilityForm.decomposed(name)
        form = NameSkeleton.form(of: decomposed).lowercased()
        smallForm = NameSkeleton.form(of: CompatibilityForm.decomposed(decomposed.lowercased()))
    }

    package func isConfusable(with other: NameSkeleton) -> Bool {
        form == other.form || form == other.smallForm || smallForm == other.form
            || smallForm == other.smallForm
    }

    private static func form(of decomposed: String) -> String {
        var form = ""
        for scalar in decomposed.unicodeScalars
        where !scalar.isInvisible && !scalar.isTricky && !scalar.properties.isWhitespace {
            if let prototype = prototypes[scalar] {
                form += prototype
            } else {
                form.unicodeScalars.append(scalar)
            }
        }
        return CompatibilityForm.decomposed(form)
    }

    private static let prototypes: [Unicode.Scalar: String] = {
        var prototypes: [Unicode.Scalar: String] = [:]
        for line in table.pieces(at: "\n") {
            let words = line.pieces(at: " ")
            guard let prototype = words.first else { continue }
            for word in words.dropFirst() {
                guard let scalar = UInt32(word, radix: 16).flatMap(Unicode.Scalar.init) else { continue }
                prototypes[scalar] = String(prototype)
            }
        }
        return prototypes
    }()
}

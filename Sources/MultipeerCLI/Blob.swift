import Multipeer

/// Connection data as it was given to a command: base64 in an argument, or a file with base64 or the bytes themselves.
enum Blob {
    private static let magic = Array("MPCD".utf8)

    static func decode(_ text: String) throws(Complaint) -> [UInt8] {
        guard let bytes = Base64.decode(text) else {
            throw Complaint(
                "this is not base64", hint: "connection data is one line, as 'multipeer link' prints it",
                exit: .badInput)
        }
        return bytes
    }

    /// The bytes in a file's contents.
    static func decode(contents: [UInt8]) throws(Complaint) -> [UInt8] {
        contents.starts(with: magic) ? contents : try decode(String(decoding: contents, as: UTF8.self))
    }

    /// What a complaint about data that failed a check says.
    static func complaint(_ fault: InvalidConnectionData) -> Complaint {
        Complaint(
            "check \(fault.check) failed: \(fault)", hint: "'multipeer data inspect' shows its fields",
            exit: .badInput)
    }

    static func read(_ bytes: [UInt8]) throws(Complaint) -> ConnectionData {
        do throws(InvalidConnectionData) {
            return try ConnectionData(bytes)
        } catch {
            throw complaint(error)
        }
    }
}

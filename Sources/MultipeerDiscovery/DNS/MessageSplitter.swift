/// The datagrams of one message: as few as fit into the link's packets. RFC 6762, 7.2 and 17.
///
/// A query with known answers left sets the TC bit, and its further packets contain nothing but known answers. Additional
/// records that do not fit into the message of their answer follow as answers.
struct MessageSplitter {
    private let header: DNSMessage
    private var rest: [Item]
    private let budget: Int
    private let isLegacy: Bool

    private enum Item {
        case question(DNSQuestion)
        case answer(DNSRecord)
        case additional(DNSRecord)

        var isAnswer: Bool {
            if case .answer = self { true } else { false }
        }
    }

    static func of(_ message: DNSMessage, budget: Int, isLegacy: Bool = false) -> [[UInt8]] {
        if let whole = try? message.encoded(legacy: isLegacy), whole.count <= budget { return [whole] }
        if !message.authorities.isEmpty {  // A probe is one question with its few records: it is never split.
            return [try? message.encoded(legacy: isLegacy)].compactMap(\.self)
        }
        var packets = MessageSplitter(message, budget: budget, isLegacy: isLegacy)
        var datagrams: [[UInt8]] = []
        while let datagram = packets.next() { datagrams.append(datagram) }
        return datagrams
    }

    private init(_ message: DNSMessage, budget: Int, isLegacy: Bool) {
        var header = message
        header.answers = []
        header.additionals = []
        if !isLegacy { header.questions = [] }
        self.header = header
        self.budget = budget
        self.isLegacy = isLegacy
        rest = isLegacy ? [] : message.questions.map { .question($0) }
        rest += message.answers.map { .answer($0) } + message.additionals.map { .additional($0) }
    }

    private mutating func next() -> [UInt8]? {
        while !rest.isEmpty {
            let count = max(1, fitting())
            let datagram = encoded(count)
            rest.removeFirst(count)
            if let datagram { return datagram }  // Otherwise a record that fits into no packet.
        }
        return nil
    }

    /// Returns how many of the next items fit into one packet.
    private func fitting() -> Int {
        var least = 0
        var most = min(rest.count, DNSMessage.mostRecords)
        while least < most {
            let middle = (least + most + 1) / 2
            if let datagram = encoded(middle), datagram.count <= budget {
                least = middle
            } else {
                most = middle - 1
            }
        }
        return least
    }

    private func encoded(_ count: Int) -> [UInt8]? {
        var message = header
        for item in rest.prefix(count) {
            switch item {
            case .question(let question): message.questions.append(question)
            case .answer(let record): message.answers.append(record)
            case .additional(let record): message.additionals.append(record)
            }
        }
        if message.isResponse {
            if message.answers.isEmpty { swap(&message.answers, &message.additionals) }
        } else if rest.dropFirst(count).contains(where: \.isAnswer) {
            message.isTruncated = true  // [mdns.known-answer]
        }
        return try? message.encoded(legacy: isLegacy)
    }
}

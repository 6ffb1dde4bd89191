import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// The files in which a report is written, and their options.
struct ReportFiles {
    static let options: [Usage.Option] = [
        .init("--html", "FILE", "write the report as one HTML page; failed cases have a sequence diagram"),
        .init("--json", "FILE", "write the report as JSON; for 'multipeer-conform repro' and 'compare'"),
        .init("--junit", "FILE", "write the report as JUnit XML"),
        .init("--tap", "FILE", "write the report as TAP, version 14"),
        .init("--markdown", "FILE", "write a summary as Markdown"),
        .init(
            "--spec", "URL",
            "the folder of the specification, for the links of --html; default: "
                + "\(SpecificationLinks.beside), in the folder of the page"),
        .init("--progress", "show each case on standard error, even without a terminal"),
    ]

    private let html: String?
    private let json: String?
    private let junit: String?
    private let tap: String?
    private let markdown: String?
    private let links: SpecificationLinks

    init(_ arguments: Arguments) {
        html = arguments.value("--html")
        json = arguments.value("--json")
        junit = arguments.value("--junit")
        tap = arguments.value("--tap")
        markdown = arguments.value("--markdown")
        links = SpecificationLinks(base: arguments.value("--spec") ?? SpecificationLinks.beside)
    }

    func write(_ report: Report) throws(CommandError) {
        if let junit { try AtomicFile.publish(Array(report.junit.utf8), to: junit) }
        if let tap { try AtomicFile.publish(Array(report.tap.utf8), to: tap) }
        if let markdown { try AtomicFile.publish(Array(report.markdown.utf8), to: markdown) }
        if let html { try AtomicFile.publish(Array(report.html(links).utf8), to: html) }
        guard let json else { return }
        guard let bytes = try? report.json() else { throw CommandError("cannot write JSON", exit: .system) }
        try AtomicFile.publish(bytes, to: json)
    }
}

import Foundation
import TestSupport
import Testing

/// What differs from one operating system to the next has its place.
@Suite("1 Platforms", .computing)
struct PlatformRuleTests {
    /// The files that ask which library the system has.
    private static let deciding = [
        "Sources/MultipeerFoundation/Foundation.swift", "Sources/MultipeerNetworking/Networking.swift",
        "Sources/MultipeerPlatform/Platform.swift", "Sources/MultipeerPlatform/ServiceDiscovery.swift",
    ]
    /// The libraries that some systems have and others have not.
    private static let libraries = [
        "Glibc", "Musl", "Android", "Bionic", "Darwin", "WinSDK", "FoundationEssentials",
        "FoundationNetworking", "CDNSSD", "dnssd",
    ]

    @Test("one file alone asks which C library the system has, and one each which modules Foundation has")
    func libraries() throws {
        let pattern = #"canImport\(|import (struct |func )?(\#(Self.libraries.joined(separator: "|")))\b"#
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            let asks = try file.code(matching: pattern)
            #expect(asks.isEmpty != Self.deciding.contains(file.path), "\(file.path): \(asks)")
        }
    }

    @Test("each place that the article on platforms lists for Darwin is still there")
    func listed() throws {
        let article = try Repository.file("Sources/Multipeer/Multipeer.docc/Platforms.md").text
        let section = try #require(
            article.components(separatedBy: "## What was not compiled for Darwin").last)
        let list = section.components(separatedBy: "### ")[0]
        let rows = list.matches(of: #/\n\| `([^`]+)` \| `([^`]+)` \|/#)
        #expect(rows.count > 20)
        for row in rows {
            let file = try Repository.file("Sources/\(row.1)")
            #expect(file.text.contains(row.2), "\(row.1): \(row.2)")
        }
    }

    /// Ways to take a text apart at a `Character`: "/" with a combining mark after it is none of these marks, nor is CR LF.
    private static let apart =
        #"\.(hasPrefix\(|hasSuffix\(|components\(separatedBy|(firstIndex|lastIndex)\(of: "|split\((separator: "|omitting))"#

    /// The reference peer and the simulation's scenarios have texts of their own.
    private static let apartFromRule = ["Sources/MultipeerConformance/", "Sources/MultipeerSimulation/"]

    @Test("text with a meaning on the wire, in a file or on a command line is taken apart by bytes")
    func bytes() throws {
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") })
        where !Self.apartFromRule.contains(where: file.path.hasPrefix) {
            let found = try file.code(matching: Self.apart)
            #expect(found.isEmpty, "\(file.path): \(found), which FilePath.swift does by bytes")
        }
    }

    /// What reads or writes a number as it is in memory, where its bytes are in the order of the machine.
    private static let memory = [
        "bigEndian", "byteSwapped", "littleEndian", "loadUnaligned", "storeBytes", "unsafeBitCast",
        #"(assuming|bind)Memory\w*"#, #"load\(as: (?!UInt8)"#, #"withMemoryRebound"#,
        #"withUnsafe(Mutable)?Bytes\(of"#,
    ]
    private static let deciders = [
        "MultipeerCore", "MultipeerFraming", "MultipeerHandshake", "MultipeerDiscovery", "MultipeerLink",
        "MultipeerMesh", "MultipeerEngine",
    ]

    @Test("codecs and engines build numbers of bytes, so the byte order of the machine has no effect")
    func byteOrder() throws {
        let pattern = #"\b(\#(Self.memory.joined(separator: "|")))"#
        for module in Self.deciders {
            for file in try Repository.files(under: "Sources/\(module)", where: { $0.hasSuffix(".swift") }) {
                let found = try file.code(matching: pattern)
                #expect(found.isEmpty, "\(file.path): \(found)")
            }
        }
        let runtime = try Repository.file("Sources/MultipeerTransport/Sockets/SocketAddress+System.swift")
        #expect(try !runtime.code(matching: pattern).isEmpty)
    }

    /// The folder of the runtime for what Linux alone has, and that of its C code.
    private static let linux = [
        "Sources/MultipeerTransport/Linux/", "Sources/CPlatform/linux/",
        "Sources/CPlatform/include/CPlatformLinux.h",
    ]
    /// Programs that look into `/proc` or `/sys` for a person or for a test, and do without where there is none.
    private static let lookers = [
        "Sources/MultipeerCLI/Doctor/InterfaceCheck.swift",
        "Sources/MultipeerCLI/Doctor/ProcFileSystem.swift",
        "Sources/MultipeerCommandLine/System/ChildProcess.swift",
        "Sources/MultipeerConform/Shim/ShimResourceUsage.swift",
        "Sources/MultipeerConformance/ReferencePeer/JSONLinesIO.swift",
        "Sources/MultipeerConformance/Shim/Subject.swift",
    ]
    private static let calls = [
        "accept4", "AF_NETLINK", "AT_EMPTY_PATH", "CLOCK_BOOTTIME", "copy_file_range", "dup3", #"epoll_\w+"#,
        "eventfd", #"EFD_\w+"#, #"EPOLL\w+"#, "fallocate", #"FALLOC_\w+"#, "getrandom", "gettid",
        #"inotify_\w+"#,
        "IP_MULTICAST_ALL", "IPV6_MULTICAST_ALL", "memfd_create", #"NETLINK_\w+"#, "nice", "O_PATH",
        "O_TMPFILE",
        "pipe2", #"POSIX_FADV_\w+"#, "posix_fadvise", "ppoll", "prctl", "readahead", "recvmmsg", "renameat2",
        "RENAME_NOREPLACE", #"RTMGRP_\w+"#, "sendfile", "sendmmsg", "signalfd", "SO_BINDTODEVICE",
        "SO_RCVBUFFORCE", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "splice", "TCP_CONGESTION", "TCP_NOTSENT_LOWAT",
        "TCP_USER_TIMEOUT", #"timerfd_\w+"#, "UDP_GRO", "UDP_SEGMENT",
    ]

    @Test("what Linux alone has is used in one folder of the runtime, and in its C code")
    func linux() throws {
        let calls = #"(?<![\w.])(\#(Self.calls.joined(separator: "|")))\b(?!:)"#
        var used: Set<String> = []
        for file in try Repository.files(
            under: "Sources", where: { $0.hasSuffix(".swift") || $0.hasSuffix(".c") || $0.hasSuffix(".h") })
        where !Self.linux.contains(where: { file.path.hasPrefix($0) }) {
            let found = try file.code(matching: calls)
            #expect(found.isEmpty, "\(file.path): \(found)")
            let looks = try file.code(matching: #""/(proc|sys)\b"#)
            if looks.isEmpty { continue }
            #expect(Self.lookers.contains(file.path), "\(file.path): \(looks)")
            used.insert(file.path)
        }
        #expect(used == Set(Self.lookers), "a file of the list no longer looks there")
    }

    @Test("one file chooses the runtime, and each file of Linux is whole under one condition")
    func conditions() throws {
        let chooser = "Sources/MultipeerTransport/System/Runtime.swift"
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            let conditions = try file.code(matching: #"#(else)?if .*(\bos\(|PortableRuntime)"#)
            if file.path == chooser { continue }
            if file.path.hasPrefix("Sources/MultipeerTransport/Linux/") {
                #expect(conditions == ["#if os(Linux) || os(Android)"], "\(file.path)")
                let isWhole = file.text.hasPrefix("#if os(") && file.text.hasSuffix("#endif\n")
                #expect(isWhole, "\(file.path)")
            } else if file.path.hasPrefix("Sources/MultipeerTransport/Portable/") {
                #expect(conditions.allSatisfy { $0 == "#if !os(Linux) && !os(Android)" }, "\(file.path)")
            } else {
                #expect(conditions.isEmpty, "\(file.path): \(conditions)")
            }
        }
    }

    /// The backend of the system's responder.
    private static let responder = "Sources/MultipeerTransport/SystemDiscovery/"
    private static let responderCalls =
        #"\b(TXTRecord\w+|DNSService(Register|UpdateRecord|Browse|Resolve|QueryRecord|GetAddrInfo|RefSockFD|ProcessResult"#
        + #"|RefDeallocate|ReconfirmRecord|CreateConnection|ConstructFullName))\("#

    @Test(
        "calls of the system's responder, and pointers for them, are in one file, which every build but Darwin's may omit"
    )
    func systemDiscovery() throws {
        // What chooses the backend, and what imports the calls.
        let choosers = [
            "Sources/MultipeerTransport/Discovery/DiscoveryConfiguration.swift",
            "Sources/MultipeerPlatform/ServiceDiscovery.swift",
        ]
        var calling: [String] = []
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            if try !file.code(matching: Self.responderCalls).isEmpty { calling.append(file.path) }
            let conditions = try file.code(matching: #"#(else)?if .*\bSystemDiscovery\b"#)
            if file.path.hasPrefix(Self.responder) {
                #expect(conditions == ["#if SystemDiscovery"], "\(file.path)")
                let isWhole = file.text.hasPrefix("#if SystemDiscovery\n") && file.text.hasSuffix("#endif\n")
                #expect(isWhole, "\(file.path)")
                let pointers = try file.code(matching: #"Unsafe\w*Pointer|Unmanaged"#)
                #expect(pointers.isEmpty || file.path.hasSuffix("DNSServiceOperation.swift"), "\(file.path)")
            } else {
                #expect(conditions.isEmpty || choosers.contains(file.path), "\(file.path): \(conditions)")
            }
        }
        #expect(calling == [Self.responder + "DNSServiceOperation.swift"])
    }
}

extension Repository.File {
    /// Returns the lines in which the pattern matches outside a comment.
    fileprivate func code(matching pattern: String) throws -> [String] {
        let all = NSRange(text.startIndex..., in: text)
        return try NSRegularExpression(pattern: pattern).matches(in: text, range: all).compactMap { match in
            guard let place = Range(match.range, in: text) else { return nil }
            let line = text[text.lineRange(for: place)]
            let code = line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
            return place.lowerBound < code.endIndex
                ? code.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
    }
}

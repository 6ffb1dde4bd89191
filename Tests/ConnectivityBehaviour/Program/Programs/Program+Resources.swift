import MultipeerConnectivity

extension Program {
    static let resources: [Program] = [
        Program(
            "resource.arrives",
            "A file arrives as it was sent, with its name; the handler of the sender receives no error.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("photo", Application.bytes(300_000))
                let progress = app.session.sendResource(at: file, withName: "photo.jpg", toPeer: right) {
                    error in
                    app.note("sent", error)
                }
                app.expect(progress != nil, "there is a progress")
                try await app.wait("sent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("receiving photo.jpg", "received photo.jpg")
                app.expect(app.resources["photo.jpg"] == Application.bytes(300_000), "it is what was sent")
            }),
        Program(
            "resource.empty", "An empty file arrives as an empty file.", .sendResource,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("empty", Data())
                let progress = app.session.sendResource(at: file, withName: "empty", toPeer: right) { error in
                    app.note("sent", error)
                }
                try await app.wait("sent")
                app.expect(progress?.isFinished, is: true, "whether the progress is finished")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received empty")
                app.expect(app.resources["empty"], is: Data(), "the file")
            }),
        Program(
            "resource.large", "A file of 8 MiB arrives byte for byte.", .sendResource,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("large", Application.bytes(8 << 20))
                app.session.sendResource(at: file, withName: "large", toPeer: right) { app.note("sent", $0) }
                try await app.wait("sent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received large")
                app.expect(app.resources["large"] == Application.bytes(8 << 20), "it is what was sent")
            }),
        Program(
            "resource.sent-when-received",
            "The handler of the sender is called after the receiver has all of the file, and once.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(100_000))
                app.session.sendResource(at: file, withName: "file", toPeer: right) { error in
                    app.note("sent", error)
                }
                try await app.posted("received")
                try await app.wait("sent")
                try app.say("end", to: right)
                try await app.wait("right: end")
                let sent = app.record.texts(of: .program).filter { $0.hasPrefix("sent") }
                app.expect(sent, is: ["sent"], "the calls of the handler")
            },
            right: { app in
                app.onResourceEnd = { _, _, _ in app.post("received") }
                let left = try await app.connect()
                try await app.wait("received file", "left: end")
                try app.say("end", to: left)
            }),
        Program(
            "resource.temporary",
            "A received file is temporary: it is gone after the call, unless the call has moved it.",
            .didFinishReceiving,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(1_000))
                for name in ["left alone", "moved"] {
                    app.session.sendResource(at: file, withName: name, toPeer: right) {
                        app.note("sent \(name)", $0)
                    }
                    try await app.wait("sent \(name)")
                }
                try await app.posted("done")
            },
            right: { app in
                let moved = app.folder.appendingPathComponent("moved")
                @Guarded var places: [URL] = []
                app.onResourceEnd = { [$places] name, url, _ in
                    guard let url else { return }
                    $places.change { $0.append(url) }
                    app.expect(
                        FileManager.default.fileExists(atPath: url.path), "the file is there in the call")
                    if name == "moved" { try? FileManager.default.moveItem(at: url, to: moved) }
                }
                try await app.connect()
                // Each call has returned when the next one is made.
                try await app.wait("received left alone", "receiving moved", "received moved")
                app.expect(
                    places.first.map { FileManager.default.fileExists(atPath: $0.path) }, is: false,
                    "the first")
                app.expect(
                    try Data(contentsOf: moved) == Application.bytes(1_000), "the moved file is what was sent"
                )
                app.post("done")
            }),
        Program(
            "resource.odd-name",
            "A name is passed as it is, and the file is nowhere near the path that it may look like.",
            .didFinishReceiving,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Data([1, 2, 3]))
                for name in ["../../../tmp/evil", "Grüße aus 東京 📎?.txt", "a b/c:d*", "."] {
                    app.session.sendResource(at: file, withName: name, toPeer: right) {
                        app.note("sent \(name)", $0)
                    }
                    try await app.wait("sent \(name)")
                }
            },
            right: { app in
                app.onResourceEnd = { _, url, _ in
                    guard let path = url?.standardizedFileURL.path else { return }
                    app.expect(!path.hasSuffix("tmp/evil"), "the file is not at \(path)")
                    app.expect(
                        path.hasPrefix(FileManager.default.temporaryDirectory.path), "\(path) is temporary")
                }
                try await app.connect()
                for name in ["../../../tmp/evil", "Grüße aus 東京 📎?.txt", "a b/c:d*", "."] {
                    try await app.wait("receiving \(name)", "received \(name)")
                    app.expect(app.resources[name], is: Data([1, 2, 3]), "the content of \(name)")
                }
            }),
        Program(
            "resource.two-at-once", "Two files that are sent at the same time both arrive whole.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                for (name, seed) in [("one", UInt64(1)), ("other", 2)] {
                    let file = try app.file(name, Application.bytes(1_000_000, seed: seed))
                    app.session.sendResource(at: file, withName: name, toPeer: right) {
                        app.note("sent \(name)", $0)
                    }
                }
                try await app.wait("sent one", "sent other")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received one", "received other")
                app.expect(
                    app.resources["one"] == Application.bytes(1_000_000, seed: 1), "the one is what was sent")
                app.expect(app.resources["other"] == Application.bytes(1_000_000, seed: 2), "so is the other")
            }),
        Program(
            "resource.same-name", "Two files with one name are two resources.", .sendResource,
            left: { app in
                let right = try await app.connect()
                for seed in [UInt64(1), 2] {
                    let file = try app.file("\(seed)", Application.bytes(200_000, seed: seed))
                    app.session.sendResource(at: file, withName: "twin", toPeer: right) {
                        app.note("sent", $0)
                    }
                }
                try await app.wait("sent", "sent")
            },
            right: { app in
                @Guarded var contents: Set<Data> = []
                app.onResourceEnd = { [$contents] _, url, _ in
                    if let data = url.flatMap({ try? Data(contentsOf: $0) }) {
                        $contents.change { $0.insert(data) }
                    }
                }
                try await app.connect()
                try await app.wait("received twin", "received twin")
                app.expect(
                    contents == Set([1, 2].map { Application.bytes(200_000, seed: $0) }),
                    "both have their content")
            }),
        Program(
            "resource.both-ways", "Each of two peers sends the other one a file at the same time.",
            .sendResource,
            left: { app in try await exchangeFiles(app) },
            right: { app in try await exchangeFiles(app) }),
        Program(
            "resource.no-handler", "The completion handler may be omitted.", .sendResource,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.file("file", Data([1])), withName: "file", toPeer: right)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received file")
                app.post("done")
            }),
        Program(
            "resource.removed-source", "The file may be removed once the call to send it has returned.",
            .here,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(500_000))
                app.session.sendResource(at: file, withName: "file", toPeer: right) { app.note("sent", $0) }
                try FileManager.default.removeItem(at: file)
                try await app.wait("sent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received file")
                app.expect(app.resources["file"] == Application.bytes(500_000), "it is what was sent")
            }),
        Program(
            "resource.with-messages", "A message does not wait for a file that is being sent.", .here,
            left: { app in
                let right = try await app.connect()
                let progress = app.session.sendResource(
                    at: try app.endlessFile(), withName: "long", toPeer: right
                ) {
                    app.note("sent", $0)
                }
                try await app.posted("receiving")
                try app.say("meanwhile", to: right)
                try await app.posted("done")
                progress?.cancel()
                try await app.wait("sent: cancelled")
            },
            right: { app in
                try await app.connect()
                try await app.wait("receiving long")
                app.post("receiving")
                try await app.wait("left: meanwhile")
                app.expect(
                    !app.sessionEvents.contains { $0.hasPrefix("received long") }, "the file is not complete")
                app.post("done")
                try await app.wait("received long: cancelled")
            }),
        Program(
            "resource.web", "A document of the web is fetched by the sender and forwarded.", .sendResource,
            left: { app in
                let right = try await app.connect()
                let server = try LocalWebServer(Application.bytes(300_000))
                app.session.sendResource(
                    at: try server.url("document"), withName: "page", toPeer: right
                ) { app.note("sent", $0) }
                try await app.wait("sent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("receiving page", "received page")
                app.expect(app.resources["page"] == Application.bytes(300_000), "it is the document")
            }),
    ]

    @MainActor
    private static func exchangeFiles(_ app: Application) async throws {
        let other = try await app.connect()
        let size = app.role == .left ? 400_000 : 500_000
        let file = try app.file("file", Application.bytes(size))
        app.session.sendResource(at: file, withName: "\(app.role)", toPeer: other) { app.note("sent", $0) }
        try await app.wait("sent", "received \(app.role.other)")
        let expected = app.role == .left ? 500_000 : 400_000
        app.expect(app.resources["\(app.role.other)"] == Application.bytes(expected), "it is what was sent")
    }
}

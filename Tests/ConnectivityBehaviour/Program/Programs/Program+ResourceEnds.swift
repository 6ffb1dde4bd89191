import MultipeerConnectivity

// Files that do not arrive.
extension Program {
    static let resourceEnds: [Program] = [
        Program(
            "resource.missing-file",
            "A file that does not exist is an error for the handler, and there is no progress.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                let progress = app.session.sendResource(
                    at: app.folder.appendingPathComponent("none"), withName: "none", toPeer: right
                ) { app.note("not sent: \($0 != nil)") }
                app.expect(progress == nil, "there is no progress")
                try await app.wait("not sent: true")
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(!app.sessionEvents.contains { $0.hasPrefix("receiving") }, "nothing was announced")
            }),
        Program(
            "resource.folder", "A folder is an error for the handler: only a file can be sent.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: app.folder, withName: "folder", toPeer: right) {
                    app.note("not sent: \($0 != nil)")
                }
                try await app.wait("not sent: true")
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(!app.sessionEvents.contains { $0.hasPrefix("received") }, "nothing was received")
            }),
        Program(
            "resource.unsupported-url",
            "A URL that is neither of a file nor of the web is the error `.unsupported`.", .errorCode,
            left: { app in
                let right = try await app.connect()
                guard let url = URL(string: "ftp://localhost/file") else { throw Failure("no URL") }
                let progress = app.session.sendResource(at: url, withName: "file", toPeer: right) {
                    app.note("sent", $0)
                }
                app.expect(progress == nil, "there is no progress")
                try await app.wait("sent: unsupported")
            },
            right: { app in try await app.connect() }),
        Program(
            "resource.missing-page", "A page that the web does not have is an error for the handler.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                let server = try LocalWebServer(Data())
                app.session.sendResource(at: try server.url("none"), withName: "none", toPeer: right) {
                    app.note("not sent: \($0 != nil)")
                }
                try await app.wait("not sent: true")
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(app.resources["none"] == nil, "nothing was received")
            }),
        Program(
            "resource.unconnected",
            "A file for a peer that is not connected is the error `.notConnected` for the handler.",
            .errorCode,
            left: { app in
                let right = try await app.find()
                let progress = app.session.sendResource(
                    at: try app.file("file", Data([1])), withName: "file", toPeer: right
                ) { app.note("sent", $0) }
                app.expect(progress == nil, "there is no progress")
                try await app.wait("sent: notConnected")
            },
            right: { app in app.advertiser.startAdvertisingPeer() }),
        Program(
            "resource.receiver-leaves",
            "When the receiver leaves in the middle, the sender's handler receives `.notConnected`.",
            .errorCode,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.endlessFile(), withName: "long", toPeer: right) {
                    app.note("sent", $0)
                }
                try await app.wait("sent: notConnected", "right notConnected")
            },
            right: { app in
                try await app.connect()
                try await app.wait("receiving long")
                app.session.disconnect()
                try await app.wait("left notConnected")
            }),
        Program(
            "resource.sender-leaves",
            "When the sender leaves in the middle, the receiver gets the error `.notConnected`, and no file.",
            .errorCode,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.endlessFile(), withName: "long", toPeer: right) { _ in
                    app.note("not sent")
                }
                try await app.posted("receiving")
                app.session.disconnect()
                try await app.wait("not sent")
            },
            right: { app in
                app.onResourceEnd = { _, url, error in
                    app.expect(url == nil, "there is no file")
                    app.expect((error as? MCError)?.code, is: .notConnected, "the error")
                    app.note("noticed")
                }
                try await app.connect()
                try await app.wait("receiving long")
                app.post("receiving")
                try await app.wait("noticed", "left notConnected")
            }),
        Program(
            "resource.sender-crashes",
            "When the process of the sender ends in the middle, the receiver gets one error, and no file.",
            .didFinishReceiving,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.endlessFile(), withName: "long", toPeer: right)
                try await app.posted("receiving")
                app.crash()
            },
            right: { app in
                app.onResourceEnd = { _, url, error in
                    app.expect(url == nil && error != nil, "there is an error, and no file")
                    app.note("noticed")
                }
                try await app.connect()
                try await app.wait("receiving long")
                app.post("receiving")
                try await app.wait("noticed", "left notConnected")
            }),
    ]
}

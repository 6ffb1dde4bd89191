import MultipeerFetch
import TestSupport
import Testing

@Suite("9.4 Addresses of documents", .computing)
struct WebURLTests {
    @Test(
        "an http or https URL is taken apart, and its text is made of the parts",
        arguments: [
            ("http://example.com", "http://example.com"),
            ("HTTPS://Example.com:8443/", "https://Example.com:8443/"),
            ("http://ann:secret@h/a?b=c#d", "http://ann:secret@h/a?b=c"), ("http://h:", "http://h"),
            ("http://[2001:db8::1]:80/x", "http://[2001:db8::1]:80/x"), ("http://h?x", "http://h?x"),
            ("http://h/a b\u{e9}\n[1]%zz%41", "http://h/a%20b%C3%A9%0A%5B1%5D%25zz%41"),
            ("http://h/p?q r/?#f", "http://h/p?q%20r/?"),
            ("http://m\u{fc}nchen.test/", "http://m\u{fc}nchen.test/"),
        ])
    func text(_ word: String, _ text: String) {
        #expect(WebURL(word)?.text == text)
        #expect(WebURL(text)?.text == text)
    }

    @Test(
        "a text whose host another parser could take for another one is refused",
        arguments: [
            "", "x", "ftp://h/", "http:", "http:/h", "http://", "http:///x", "http://:80", "http://h:0",
            "http://h:65536", "http://h:+80", "http://h:8a", "http://a@b@c/", "http://h\\@evil/",
            "http://h h/",
            "http://h%2e/", "http://[::1", "http://[::1]x", "http://[127.0.0.1]/", "http://[fe80::1%25lo]/",
            "http://::1/", "http://h\u{0}/", "http://h|x/", " http://h/",
            "http://[::1\0\r\nX: y]/",
        ])
    func refused(_ word: String) { #expect(WebURL(word) == nil) }

    @Test(
        "a reference is resolved like the examples of RFC 3986, 5.4",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), (";x", "/b/c/;x"),
            ("", "/b/c/d;p?q"),
            (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../g", "/b/g"), ("../..", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), ("..g", "/b/c/..g"),
            ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/../x", "/b/c/g?y/../x"),
        ])
    func references(_ reference: String, _ rest: String) {
        #expect(WebURL("http://a/b/c/d;p?q")?.resolving(reference)?.text == "http://a\(rest)")
    }

    @Test("a reference may name another server, of http and https alone")
    func servers() throws {
        let base = try #require(WebURL("https://ann@a:8443/x"))
        #expect(base.resolving("//b/y")?.text == "https://b/y")
        #expect(base.resolving("http://b:81/y")?.text == "http://b:81/y")
        #expect(base.resolving("y")?.text == "https://ann@a:8443/y")
        #expect(WebURL("http://a")?.resolving("y")?.text == "http://a/y")
        for other in ["file:///etc/passwd", "ftp://b/", "mailto:x", "//", "http:y"] {
            #expect(base.resolving(other) == nil, "\(other)")
        }
    }

    @Test("people see it decoded, without user and query, and its document's name")
    func shown() throws {
        let url = try #require(WebURL("https://ann:secret@h:8/a/b%20c?token=1"))
        #expect(url.shown == "https://h:8/a/b c" && url.label == "b c")
        #expect(WebURL("http://h/%ff/")?.label == "%ff")
        #expect(WebURL("http://h")?.label == "h")
    }

    @Test("a request to an address keeps the name for its header")
    func fixed() throws {
        let address = try #require(WebResolver.Address("::1"))
        let (url, host) = try #require(WebURL("http://ann@h:81/x?y")).fixed(at: address)
        #expect(url.text == "http://ann@[::1]:81/x?y" && host == "h:81")
    }
}

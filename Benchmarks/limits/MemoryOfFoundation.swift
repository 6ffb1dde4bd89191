// SPDX-License-Identifier: Apache-2.0
//
// The least memory of a process that also imports Foundation: most of it are clean pages that all its processes share.

import Foundation
import Glibc

@main
enum MemoryOfFoundation {
    static func main() async {
        let count = await Task.detached {
            Data(repeating: 1, count: 4096).count
        }.value
        guard count == 4096, let file = fopen("/proc/self/smaps_rollup", "r") else { exit(1) }
        var line = [UInt8](repeating: 0, count: 256)
        while line.withUnsafeMutableBytes({ fgets($0.baseAddress, 256, file) }) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }, as: UTF8.self).split(separator: " ")
            guard words.count > 1, let kibibytes = Double(words[1]) else { continue }
            let value = kibibytes / 1024
            switch words[0] {
            case "Rss:": print("{\"what\": \"resident\", \"value\": \(value), \"unit\": \"MiB\"}")
            case "Private_Dirty:":
                print("{\"what\": \"of that, written by it alone\", \"value\": \(value), \"unit\": \"MiB\"}")
            default: break
            }
        }
    }
}

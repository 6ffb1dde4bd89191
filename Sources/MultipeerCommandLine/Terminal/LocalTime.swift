/// The time of day in the time zone of the process, which the variable TZ sets.
package enum LocalTime {
    /// Returns hours and minutes, `09:05`; of now if no time is given, in seconds since 1970.
    package static func hoursAndMinutes(_ seconds: Int? = nil) -> String {
        var moment = seconds ?? time(nil)
        // The call fills it; its pointer to the zone's name is not used.
        var parts = unsafe tm()
        tzset()
        guard unsafe localtime_r(&moment, &parts) != nil else { return "--:--" }
        let numbers = unsafe [parts.tm_hour, parts.tm_min]
        return numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// Returns a time in seconds since 1970, in UTC as ISO 8601 writes it: `2026-01-31T09:05:00Z`.
    package static func universal(_ seconds: Int) -> String {
        var moment = seconds
        var parts = unsafe tm()
        guard unsafe gmtime_r(&moment, &parts) != nil else { return "\(seconds) s after 1970" }
        let numbers = unsafe [
            parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let year = unsafe "\(Int(parts.tm_year) + 1900)"
        let zeros = String(repeating: "0", count: max(0, 4 - year.count))
        let (date, time) = (numbers[..<2].joined(separator: "-"), numbers[2...].joined(separator: ":"))
        return "\(zeros)\(year)-\(date)T\(time)Z"
    }
}

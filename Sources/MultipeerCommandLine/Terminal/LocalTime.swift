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
}

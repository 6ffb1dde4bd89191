/// A day of the Gregorian calendar, in UTC. Its text is that of ISO 8601, for example 2026-11-22.
package struct CalendarDate: Hashable, Sendable, CustomStringConvertible {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Creates the day that contains this point in time. Times before the year 0 or after 9999 count as the nearest day in
    /// that range.
    package init(secondsSince1970 seconds: Int64) {
        let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        let clamped = min(max(seconds, range.lowerBound), range.upperBound)
        // Days since 1 March of the year -400: years that begin in March have the leap day as their last, and the calendar
        // repeats every 400 years, which have 146,097 days.
        let days = Int(clamped - range.lowerBound) / 86_400 - 60 + 146_097
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0)
    }

    package var description: String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }
}

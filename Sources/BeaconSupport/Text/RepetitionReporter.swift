/// A reporter for events that may repeat without end. It reports the first one at once, counts the others, and reports
/// the counts at growing intervals and at the end.
///
/// It does not read a clock: each call passes the time of a monotonic clock.
package struct RepetitionReporter<Key: Hashable & Sendable, Subject: Sendable>: Sendable {
    /// An event to report.
    package struct Report: Sendable {
        /// The newest occurrence.
        package var subject: Subject

        /// The number of occurrences since the last report, including this one.
        package var count: Int

        /// The time since the last report; nil for the first one.
        package var period: Duration?
    }

    private struct Course {
        var subject: Subject
        var unreported = 0
        var reported: Duration
        var intervals: Backoff
    }

    /// The intervals between two reports of the same event.
    private let intervals: Backoff

    /// The longest interval. An event that did not occur for that long counts as new.
    private let longest: Duration

    /// The most different events. An event that varies without end has a bad key, and is reported each time.
    private let most: Int

    private var courses: [Key: Course] = [:]

    /// Creates a reporter without events.
    package init(shortest: Duration = .seconds(60), longest: Duration = .seconds(3600), most: Int = 1000) {
        intervals = Backoff(first: shortest, longest: longest)
        self.longest = longest
        self.most = most
    }

    /// Notes an occurrence.
    ///
    /// - Returns: the report to make now; nil if the event was only counted.
    package mutating func note(_ key: Key, _ subject: Subject, at now: Duration) -> Report? {
        guard var course = courses[key] else {
            if courses.count < most { courses[key] = Course(subject: subject, reported: now, intervals: intervals) }
            return Report(subject: subject, count: 1, period: nil)
        }
        course.subject = subject
        course.unreported += 1
        defer { courses[key] = course }
        return report(&course, at: now)
    }

    /// Returns the reports that are due: events that were only counted, and whose interval is over.
    package mutating func due(at now: Duration) -> [Report] {
        var reports: [Report] = []
        for (key, var course) in courses {
            if let report = report(&course, at: now) { reports.append(report) }
            let isOver = course.unreported == 0 && now - course.reported >= max(course.intervals.upcoming, longest)
            courses[key] = isOver ? nil : course
        }
        return reports
    }

    /// Returns the reports of all events that were only counted, at the end.
    package mutating func finish(at now: Duration) -> [Report] {
        defer { courses = [:] }
        return courses.values.filter { $0.unreported > 0 }.map {
            Report(subject: $0.subject, count: $0.unreported, period: now - $0.reported)
        }
    }

    private func report(_ course: inout Course, at now: Duration) -> Report? {
        guard course.unreported > 0, now - course.reported >= course.intervals.upcoming else { return nil }
        let report = Report(subject: course.subject, count: course.unreported, period: now - course.reported)
        course.unreported = 0
        course.reported = now
        course.intervals.next()
        return report
    }
}

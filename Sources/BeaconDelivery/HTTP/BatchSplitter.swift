/// Sends batches to a server that answers for a batch as a whole.
///
/// Where the server refuses a batch for its content, one notification in it may be the cause, and the others are not to be
/// parked with it: the batch is sent again in halves, down to the one.
enum BatchSplitter {
    static func deliver(
        _ entries: ArraySlice<OutboxEntry>, post: (ArraySlice<OutboxEntry>) async -> HTTPAnswer
    ) async -> [DeliveryOutcome] {
        let answer = await post(entries)
        guard let outcome = answer.outcome else { return [] }
        switch outcome {
        case .delivered: return entries.map { _ in .delivered }
        // The first one's failure; the others come again with it.
        case .retry: return [outcome]
        case .refused:
            guard entries.count > 1, answer.isAboutContent else { return entries.map { _ in outcome } }
            let middle = entries.startIndex + entries.count / 2
            let first = await deliver(entries[..<middle], post: post)
            guard first.count == middle - entries.startIndex, !first.contains(where: \.isRetry) else { return first }
            return first + (await deliver(entries[middle...], post: post))
        }
    }
}

extension DeliveryOutcome {
    fileprivate var isRetry: Bool {
        if case .retry = self { true } else { false }
    }
}

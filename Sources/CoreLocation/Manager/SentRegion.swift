import Foundation

/// A region on its way to a callback.
///
/// It is unchecked because regions are not Sendable. What is sent is a copy that nobody else has.
struct SentRegion: @unchecked Sendable {
    let region: CLRegion

    init(_ region: CLRegion) { self.region = (region.copy() as? CLRegion) ?? region }
}

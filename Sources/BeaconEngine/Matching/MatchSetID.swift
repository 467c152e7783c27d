/// The number of a set of regions and ranging requests that some tracks have in common; -1 where nothing matches.
typealias MatchSetID = Int32

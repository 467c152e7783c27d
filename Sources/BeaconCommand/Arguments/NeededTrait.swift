// The compiler reads this file first, because it is the first in alphabetical order. Without the trait, a later file
// would fail with an unclear error about an import.
#if !CommandLine && !Gateway
    #error("beacon needs a trait: swift build --traits Gateway")
#endif

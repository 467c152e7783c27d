// The compiler reads this file first, because it is the first in alphabetical order. Without the trait, a later file
// would fail with an unclear error about an import.
#if !Delivery && !Gateway
    #error("BeaconEventStore needs .package(…, traits: [\"Delivery\"]). In a checkout: swift build --traits Gateway")
#endif

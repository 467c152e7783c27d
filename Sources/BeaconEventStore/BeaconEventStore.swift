// The compiler reads this file first, because it is the first in alphabetical order. Without the trait, a later file
// would fail with an unclear error about an import.
#if !Delivery && !Gateway
    #error("BeaconEventStore needs a trait: .package(…, traits: [\"Delivery\"])")
#endif

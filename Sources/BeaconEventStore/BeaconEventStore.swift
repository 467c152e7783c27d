// The first file in alphabetical order, so that the compiler reads it before an import that fails without the trait.
#if !Delivery && !Gateway
    #error("BeaconEventStore needs a trait: .package(…, traits: [\"Delivery\"])")
#endif

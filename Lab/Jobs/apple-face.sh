# Code for iOS at both ends: CLLocationManager on hci0 receives the beacon of CBPeripheralManager on hci1.
# generations: legacy extended
# limit: 90

plug 0
plug 1
up 0
up 1
export HOME=/root

BEACON_SOURCE=hci:hci0 background customer AppleFace customer
check "the customer ranges no beacon yet" within 30 contains /out/customer.log '^ranged $'
BEACON_SOURCE=hci:hci1 background till AppleFace till
check "the till advertises" within 30 contains /out/till.log '^advertising begun'
check "the controller advertises" within 10 air_is advertising 1 state 1
check "the customer enters the region" within 30 contains /out/customer.log '^(entered chain|state 1 of chain)'
check "the customer ranges the till with its major and minor" within 30 contains /out/customer.log '^ranged 258/772 proximity [123] rssi -55'
end till
check "stopAdvertising ends the advert" within 2 air_is advertising 0 state 1
check "the customer exits the region" within 60 contains /out/customer.log '^exited chain'
end customer
check "the customer leaves no scan behind" within 2 air_is scanning 0 state 0

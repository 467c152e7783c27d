# Code for iOS at both ends: CBPeripheralManager on hci1 is heard by CLLocationManager on hci0.
# generations: legacy extended
# limit: 90

plug 0
plug 1
up 0
up 1
export HOME=/root

BEACON_SOURCE=hci:hci0 background customer AppleFace customer
check "the customer ranges, and there is nothing yet" within 30 contains /out/customer.log '^ranged $'
BEACON_SOURCE=hci:hci1 background till AppleFace till
check "the till advertises" within 30 contains /out/till.log '^advertising begun'
check "as the controller sees" within 10 air_is advertising 1 state 1
check "the region is entered" within 30 contains /out/customer.log '^(entered chain|state 1 of chain)'
check "the till is ranged with its major and minor" within 30 contains /out/customer.log '^ranged 258/772 proximity [123] rssi -55'
end till
check "stopAdvertising takes it off the air" within 2 air_is advertising 0 state 1
check "the region is left" within 60 contains /out/customer.log '^exited chain'
end customer
check "the customer leaves no scan behind" within 2 air_is scanning 0 state 0

# Core Bluetooth at both ends: CBCentralManager on hci0 requests the name of CBPeripheralManager on hci1.
# generations: legacy extended
# limit: 90

plug 0
plug 1
up 0
up 1
export HOME=/root

BEACON_SOURCE=hci:hci1 background sensor AppleFace sensor
check "the sensor advertises" within 30 contains /out/sensor.log '^advertising begun'
check "the controller advertises" within 10 air_is advertising 1 state 1
BEACON_SOURCE=hci:hci0 background finder AppleFace finder
check "the finder finds it by its service, with the name of its scan response" within 30 contains /out/finder.log '^found A sensor with a long name rssi -'
end finder
check "the finder leaves no scan behind" within 2 air_is scanning 0 state 0
end sensor
check "the sensor leaves no advert behind" within 2 air_is advertising 0 state 1

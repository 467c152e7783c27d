# Core Bluetooth at both ends by way of bluetoothd: a central on hci0 finds the name in hci1's advert.
# generations: legacy
# limit: 120

plug 0
plug 1
start_bus
check "bluetoothd runs" start_bluetoothd
BEACON_SOURCE=bluez:hci1 background sensor as_visitor AppleFace sensor
check "the sensor advertises" within 30 contains /out/sensor.log '^advertising begun'
check "the controller advertises" within 10 air_is advertising 1 state 1
BEACON_SOURCE=bluez:hci0 background finder as_visitor AppleFace finder
check "the finder finds it by its service, with its name" within 60 contains /out/finder.log '^found A sensor with a long name rssi -'
end finder
end sensor
check "the sensor leaves no advert behind" within 5 air_is advertising 0 state 1

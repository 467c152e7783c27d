# A bluetoothd without its experimental features, as distributions start it: advertising works, and beacon reports what
# is missing.
# generations: legacy
# limit: 90

uuid=e2c56db5-dffb-48d2-b060-d0f5a71096e0
plug 0
plug 1
start_bus
check "bluetoothd runs" start_bluetoothd
air start standing
background range as_visitor beacon range --region $uuid --source bluez:hci0 --json
check "ranging reports that it is not available, with a remedy" within 30 contains /out/range.err 'experimental'
end range
background advertise as_visitor beacon advertise --uuid 0a0b0c0d-0102-0304-0506-0708090a0b0c --major 1 --minor 2 --adapter bluez:hci1
check "advertising works" within 30 air_is advertising 1 state 1
end advertise
check "advertising ends" within 5 air_is advertising 0 state 1

# A scan of bluetoothd ends silently while regions are monitored: it is restarted before a region ends.
# generations: legacy extended
# limit: 360

uuid=e2c56db5-dffb-48d2-b060-d0f5a71096e0
plug 0
start_bus
check "bluetoothd runs" start_bluetoothd -E
air start standing
background monitor as_visitor beacon monitor --region hall=$uuid/1 --source bluez:hci0 --json
check "the region is entered" within 40 contains /out/monitor.log '"event":"enter".*"name":"hall"'
# Three counts establish the usual activity, each over ten seconds of the machine's clock.
known=$(($(uptime_hundredths) + 4500))
is_known() { [ "$(uptime_hundredths)" -ge "$known" ]; }
within 120 is_known

scans=$(air_value scans state 0)
restarted() { [ "$(air_value scans state 0)" -gt "$scans" ]; }
air end-scan 0
check "a scan that ended is restarted before its region could end" within 28 restarted
check "beacon reports that it hears again" within 40 contains /out/monitor.err 'hears adverts again after a restart'
check "the region is not left" lacks /out/monitor.log '"event":"exit"'

# A region without beacons is still left.
air stop
check "without adverts the region is left" within 60 contains /out/monitor.log '"event":"exit".*"name":"hall"'
end monitor

# A scan that ends silently restarts within seconds. A controller that stops reporting causes a notice after 90 s.
# generations: legacy
# limit: 360

plug 0
up 0
air start standing
background scan beacon scan --source hci:hci0 --json
check "hci0 hears" within 30 at_least 40 /out/scan.log '"minor":1'
restarted() { [ "$(air_value scans state 0)" -gt "$scans" ]; }

scans=$(air_value scans state 0)
heard=$(wc -l </out/scan.log)
hears() { [ "$(wc -l </out/scan.log)" -gt "$heard" ]; }
air end-scan 0
check "a scan that ended is restarted" within 40 restarted
heard=$(wc -l </out/scan.log)
check "the restarted scan hears adverts" within 20 hears
check "beacon reports the restart" contains /out/scan.err 'hears adverts again after a restart'
check "the adapter was not switched" lacks /out/scan.err 'switched off and on'

scans=$(air_value scans state 0)
air silent 0
check "the scan is restarted" within 120 restarted
check "beacon reports the silence" within 120 contains /out/scan.err '^hci0: no advert was heard'
check "the adapter stays on, since it answers" lacks /out/scan.err 'switched off and on'
air well 0
heard=$(wc -l </out/scan.log)
check "it hears again once the controller does" within 20 hears

# A controller that does not answer either: the next command fails, which justifies switching the adapter off and on.
before=$(wc -l </out/scan.err)
air dead 0
noticed() { tail -n +$((before + 1)) /out/scan.err | grep -q 'did not answer'; }
check "beacon reports a controller that does not answer" within 120 noticed
air power-cycle 0
heard=$(wc -l </out/scan.log)
check "the adapter recovers once it answers" within 60 hears
end scan

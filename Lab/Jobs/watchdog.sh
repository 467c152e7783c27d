# A controller that reports nothing any more: after 90 s the scan is restarted, and reported.
# generations: legacy
# limit: 240

plug 0
up 0
air start standing
background scan beacon scan --source hci:hci0 --json
check "hci0 hears" within 30 at_least 5 /out/scan.log '"minor":1'
scans=$(air_value scans state 0)
air silent 0
restarted() { [ "$(air_value scans state 0)" -gt "$scans" ]; }
check "the scan is restarted" within 120 restarted
check "the user is informed" contains /out/scan.err '^hci0: no advert was heard'
check "the adapter is left on, since it obeys" lacks /out/scan.err 'switched off and on'
air well 0
heard=$(wc -l </out/scan.log)
hears() { [ "$(wc -l </out/scan.log)" -gt "$heard" ]; }
check "it hears again once the controller does" within 20 hears

# One that does not answer either: the next command fails, and then it is worth switching it off and on.
before=$(wc -l </out/scan.err)
air dead 0
noticed() { tail -n +$((before + 1)) /out/scan.err | grep -q 'did not answer'; }
check "a controller that does not answer is noticed" within 120 noticed
air power-cycle 0
heard=$(wc -l </out/scan.log)
check "and brought back when it answers" within 60 hears
end scan

# Peers of PyPI, for the checks that use them: sets `tools` to the folder of their programs.
. scripts/lib/packages.sh

needs python3-venv python3 -c 'import ensurepip, venv'
install_missing

tools=.build/peers
if ! "$tools/bin/python" -c 'import aioesphomeapi, bleak_esphome, habluetooth, noise, TheengsGateway' 2> /dev/null; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r Tests/Peers/requirements.txt
fi

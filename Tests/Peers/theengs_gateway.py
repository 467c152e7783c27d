#!/usr/bin/env python3
"""Runs a real Theengs Gateway with adverts of this script in place of an adapter.

usage: theengs_gateway.py PORT NAME     publishes to the broker at 127.0.0.1:PORT as the gateway NAME

Twice a second it sends an iBeacon with the UUID below, major 7 and minor 1, and an advert of another kind of device.
"""

import asyncio
import pathlib
import sys

from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from TheengsGateway import ble_gateway
from TheengsGateway.config import DEFAULT_CONFIG

UUID = "e2c56db5dffb48d2b060d0f5a71096e0"


def advert(address, company, data):
    return (
        BLEDevice(address, None, {}),
        AdvertisementData(
            local_name=None, manufacturer_data={company: bytes.fromhex(data)}, service_data={}, service_uuids=[], tx_power=None,
            rssi=-61, platform_data=()))


class Scanner:
    """A scanner that reports the same two devices forever."""

    def __init__(self, detection_callback, **_):
        self.callback, self.task = detection_callback, None

    async def start(self):
        self.task = asyncio.create_task(self.run())

    async def stop(self):
        self.task.cancel()

    async def run(self):
        while True:
            # An iBeacon's type and length, UUID, major, minor and measured power.
            self.callback(*advert("C3:11:22:33:44:55", 0x004C, "0215" + UUID + "0007" + "0001" + "c3"))
            self.callback(*advert("D4:11:22:33:44:55", 0x0499, "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f"))
            await asyncio.sleep(0.5)


def main():
    port, name = int(sys.argv[1]), sys.argv[2]
    configuration = dict(
        DEFAULT_CONFIG, host="127.0.0.1", port=port, discovery=0, ble_scan_time=3, ble_time_between_scans=0,
        publish_topic=f"home/{name}/BTtoMQTT", lwt_topic=f"home/{name}/LWT", discovery_device_name=name, gateway_id=name)
    ble_gateway.BleakScanner = Scanner
    ble_gateway.run(configuration, pathlib.Path("/dev/null"))


main()

# SPDX-License-Identifier: MIT
"""The NetworkManager plugin with a real NetworkManager: import, up, traffic, fallback, down, delete; what goes wrong."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "netns")]
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from manager.nm import passes, place  # noqa: E402


@main_path
def test_import_up_fallback_down_delete(lab):
    site, nm, text, _, _ = place(lab)
    before = site.client.links(), site.client.routes()
    said = nm.import_profile("office", text).stdout
    check("successfully added" in said, said)
    seconds, _ = nm.up("office")
    lab.figure(f"up after {seconds:.1f} s")
    check(passes(site.client, "10.77.0.1") and passes(site.client, "fd77::1"), "nothing passes")
    status = nm.daemon.status("office")
    check(status["state"] == "up" and status["managed_by"] == "NetworkManager", f"{status}")
    site.router.block()
    status, seconds = nm.daemon.wait_status("office", 40, state="up", carrier="tcp")
    lab.figure(f"on TCP {seconds:.1f} s after UDP was blocked")
    check(passes(site.client, "10.77.0.1"), "nothing passes over TCP")
    nm.down("office")
    wait_until(lambda: (site.client.links(), site.client.routes()) == before, "everything to be as it was")
    check(nm.daemon.cli("status", "office", check_code=False).returncode == 5, "the daemon still knows it")
    nm.nmcli("connection", "delete", "office")
    check("office" not in nm.nmcli("-t", "-f", "NAME", "connection").stdout, "not deleted")


if __name__ == "__main__":
    sys.exit(case.main(globals()))

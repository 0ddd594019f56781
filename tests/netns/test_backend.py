# SPDX-License-Identifier: MIT
"""What carries a tunnel, where the kernel has WireGuard and where not; the kernel's own way is tested in tests/vm."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402


def kernel_can(host):
    """Whether this machine's kernel makes WireGuard interfaces."""
    can = host.run("ip", "link", "add", "wg-look", "type", "wireguard", check_code=False).returncode == 0
    if can:
        host.run("ip", "link", "delete", "wg-look")
    return can


def test_auto_says_what_and_why(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site, backend=None)
    can = kernel_can(site.client)
    daemon.up("office")
    status = daemon.status("office")
    lab.figure(f"the kernel {'has' if can else 'has no'} WireGuard: {status['backend']}, since {status['backend_reason']}")
    check(status["backend"] in (("kernel", "kernel-relay") if can else ("userspace",)), f"backend {status['backend']}")
    check(("this kernel has WireGuard" if can else "no module wireguard") in status["backend_reason"],
          f"because: {status['backend_reason']}")
    check(site.client.tool("pinger.py", "10.77.0.1", "--count", "10", "--grace", "3").result()["received"] == 10, "no pings")
    text = daemon.cli("status", "office").stdout
    check("because" in text and " ".join(status["backend_reason"].split()[:4]) in text, f"status reads: {text}")
    daemon.cli("down", "office")
    check("office" not in site.client.links() and "wgtcp-probe" not in site.client.links(), "interfaces are left")


def test_the_kernel_by_force(lab):
    """Where it cannot, one sentence with the cure, and nothing left; where it can, it does."""
    site = Site(lab)
    server, daemon, _, _ = office(site, backend="kernel")
    before = site.client.links()
    done = daemon.cli("up", "office", check_code=False)
    if kernel_can(site.client):
        check(done.returncode == 0 and daemon.status("office")["backend"] == "kernel", f"{done.returncode}: {done.stderr}")
        daemon.cli("down", "office")
    else:
        check(done.returncode == 1, f"up ended with {done.returncode}")
        lab.figure(done.stderr.strip())
        check("the kernel backend cannot be used here" in done.stderr and "--backend userspace" in done.stderr
              and len(done.stderr.strip().splitlines()) == 1, f"it says: {done.stderr}")
        check(daemon.status("office")["state"] == "failed", f"state {daemon.status('office')['state']}")
    check(site.client.links() == before, f"interfaces: {site.client.links()}")
    done = daemon.cli("up", "office", "--backend", "userspace")
    status = daemon.status("office")
    check(status["backend"] == "userspace" and "chosen" in status["backend_reason"], f"{status['backend_reason']}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))

# SPDX-License-Identifier: MIT
"""Speaks wgtcpd's protocol and has only tunnels that it made up: for states that a network does not give on demand.

    daemon.py SOCKET [--tunnels N] [--permission read|all] [--state S] [--cause C] [--flood N]
              [--lockdown on|open] [--managed-by WHO] [--profile NAME] [--message TEXT] [--peers N]

--flood: so many changes of state for the first tunnel after the first watch, then "flooded" on stdout.
"""

import argparse
import json
import os
import socket
import socketserver
import time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--tunnels", type=int, default=1)
    parser.add_argument("--permission", default="all")
    parser.add_argument("--state", default="down")
    parser.add_argument("--cause", default="none")
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--lockdown", default="off")
    parser.add_argument("--managed-by")
    parser.add_argument("--profile")
    parser.add_argument("--message")
    parser.add_argument("--peers", type=int, default=1)
    return parser.parse_args()


args = parse()
PEER = {"public_key": "sZc4eAXlHLLgcjnLOYvtcmyvl9BUM0YxK5mHBqQGCzs=", "endpoint": "198.51.100.2:51820", "state": "up",
        "cause": "none", "verified": "full", "reason": "none", "carrier": "udp", "udp": "ok", "last_handshake": 0,
        "rtt_ms": 12.5, "rx_bytes": 1, "tx_bytes": 2, "rx_bps": 3, "tx_bps": 4}


def name(number):
    return f"tunnel{number}"


def peers(state):
    """The first is dead where not everything passes."""
    dead = {"state": "failed", "cause": "peer-unreachable", "carrier": "none", "udp": "unknown"} if state == "degraded" else {}
    return [{**PEER, "public_key": f"{i}{PEER['public_key'][1:]}", **(dead if not i and args.peers > 1 else {})}
            for i in range(args.peers)]


def lockdown():
    return {"state": args.lockdown, "open_until": int(time.time()) + 300 if args.lockdown == "open" else 0,
            "tunnels": [] if args.lockdown == "off" else [name(0)]}


def tunnel(number, state, cause="none"):
    on = state not in ("down", "failed", "connecting")
    return {"name": name(number), "display_name": f"Tunnel {number}", "profile": args.profile or name(number), "state": state,
            "cause": cause, "verified": "full" if on else "none", "reason": "none", "interface": name(number),
            "backend": "userspace" if on else "none", "carrier": "udp" if on else "none", "transport": "auto",
            "mtu": 1420 if on else 0, "since": int(time.time()), "udp": "ok" if on else "unknown", "message": args.message, "managed_by": args.managed_by,
            "kill_switch": args.lockdown,
            "warnings": [], "peers": peers(state) if on else [], "peers_total": args.peers if on else 0}


def entry(number):
    return {"name": name(number), "display_name": f"Tunnel {number}", "file": f"/etc/wgtcp/{name(number)}.conf",
            "read_only": False, "state": "down", "transport": "auto", "backend": "auto", "auto_connect": False,
            "error": None}


class Client(socketserver.StreamRequestHandler):
    def send(self, message):
        self.wfile.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def state(self, number, state, cause="none"):
        self.send({"method": "state", "params": {"tunnel": tunnel(number, state, cause), "gone": False}})

    def handle(self):
        for line in self.rfile:
            request = json.loads(line)
            method = request["method"]
            if method == "daemon.info":
                result = {"daemon_version": "0.1.0", "pid": os.getpid(), "permission": args.permission,
                          "config_dir": "/etc/wgtcp", "state_dir": "/var/lib/wgtcp"}
            elif method == "tunnel.list":
                result = {"tunnels": [] if args.managed_by else [entry(i) for i in range(args.tunnels)]}
            elif method == "watch":
                result = {}
            elif method == "tunnel.status":
                result = {"tunnels": [], "kill_switch": lockdown()}
            elif method == "killswitch.unlock":
                args.lockdown = "open" if request["params"].get("for_s") else "off"
                result = {"changed": True, "kill_switch": lockdown()}
            else:
                self.send({"id": request["id"], "error": {"code": -32601, "message": "unknown method"}})
                continue
            self.send({"id": request["id"], "result": {"version": 1, **result}})
            if method == "watch":
                for i in range(args.tunnels):
                    self.state(i, args.state, args.cause)
                self.flood()

    def flood(self):
        states = "connecting", "verifying", "up", "degraded", "reconnecting", "up", "down"
        for i in range(args.flood):
            self.state(0, states[i % len(states)])
            # As fast as a window can show them, or one a hundredth of a second: it is not to be asleep meanwhile.
            if i % 100 == 99:
                time.sleep(0.2)
        if args.flood:
            print("flooded", flush=True)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main():
    if os.path.exists(args.socket):
        os.unlink(args.socket)
    with Server(args.socket, Client) as server:
        os.chmod(args.socket, 0o666)
        print("listening", flush=True)
        try:
            server.serve_forever()
        except (KeyboardInterrupt, socket.error):
            pass


if __name__ == "__main__":
    main()

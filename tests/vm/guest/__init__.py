# SPDX-License-Identifier: MIT
"""Small virtual machines that run Debian's own kernel: image.py builds what they boot, machine.py boots and drives them."""

from guest.machine import Guest

__all__ = ["Guest"]

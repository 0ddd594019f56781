# SPDX-License-Identifier: MIT
"""A desktop for a test: an X server without a screen, a D-Bus of its own, and hands and eyes by AT-SPI."""

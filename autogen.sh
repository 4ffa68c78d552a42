#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make configure from git (autoconf, automake, libtool, pkg-config).
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-obsolete

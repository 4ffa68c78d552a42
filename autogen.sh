#!/bin/sh
# Make configure from git (autoconf, automake, libtool, pkg-config).
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-obsolete

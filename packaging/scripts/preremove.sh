#!/bin/sh
# Stops the daemon when the package is removed, not when it is upgraded.
set -e
case "${1:-}" in upgrade | 1) exit 0 ;; esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl disable --now scf-service.service || true
fi
exit 0

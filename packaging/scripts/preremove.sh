#!/bin/sh
# Stops the daemon where the package goes, not where a newer one takes its place.
set -e
case "${1:-}" in upgrade | 1) exit 0 ;; esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl disable --now scf-service.service || true
fi
exit 0

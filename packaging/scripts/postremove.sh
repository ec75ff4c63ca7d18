#!/bin/sh
# The data folder stays, even on purge: it holds evidence and approvals, and a package can't know
# whether there is another copy.
set -e
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "${1:-}" = purge ] && [ -d "${DPKG_ROOT:-}/var/lib/service" ]; then
	echo "scf-service: the data stays in /var/lib/service; delete it by hand where it is not needed" >&2
fi
exit 0

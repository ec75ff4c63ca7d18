#!/bin/sh
# Creates the daemon's user and reloads systemd. The daemon is not started: the administrator
# decides whether this machine should serve.
set -e
root="${DPKG_ROOT:-}"
case "${1:-}" in abort-*) exit 0 ;; esac # a removal or upgrade that was aborted

if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers ${root:+--root="$root"} "$root/usr/lib/sysusers.d/scf-service.conf" || echo "scf-service: the user service could not be made; make it before you start the daemon" >&2
elif [ -z "$root" ] && ! grep -q '^service:' /etc/passwd; then
	if command -v useradd >/dev/null 2>&1; then
		useradd --system --home-dir /var/lib/service --shell /usr/sbin/nologin service
	elif command -v adduser >/dev/null 2>&1; then
		adduser -S -D -H -h /var/lib/service -s /sbin/nologin service
	fi
fi

if [ -z "$root" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade, restart a running daemon so that it is the new version.
	systemctl try-restart scf-service.service || true
	systemctl is-active --quiet scf-service.service || echo "scf-service: to serve from this machine: systemctl enable --now scf-service"
fi
exit 0

#!/bin/sh
# Takes a folder of documents to a Statement of Applicability that is waiting for a decision, using only
# curl and jq.
#
#   SERVICE_URL=https://grc.acme.example SERVICE_TOKEN=service_live_… ./assess.sh FOLDER [FRAMEWORK] [NAME]
#
# Exit code 4: a user must decide now. For codes other than 0 and 4, stderr says what went wrong.
set -eu

: "${SERVICE_URL:=http://127.0.0.1:8080}" "${SERVICE_TOKEN:?set it to an API key of service key create}"
folder=${1:?which folder?}
framework=${2:-iso-27001-2022}
name=${3:-By curl}
api=$SERVICE_URL/api/v1
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# The key is passed through a file descriptor, because other users of the machine can see arguments.
call() {
	status=$(printf 'header = "Authorization: Bearer %s"\nheader = "X-Service-Tenant-Id: %s"\n' "$SERVICE_TOKEN" "${organization:-}" |
		curl -sS --config - -o "$answer" -w '%{http_code}' --retry 3 "$@")
	case $status in 2*) return 0 ;; esac
	echo "$status: $(jq -r '.error.message // .' "$answer" 2>/dev/null || cat "$answer")" >&2
	return 1
}
field() { jq -r "$1" "$answer"; }
post() { call -H 'Content-Type: application/json' "$@"; }

call "$api/users/me/organizations"
organization=$(field '.data[0].id // empty')
[ -n "$organization" ] || { echo "the key belongs to no organization" >&2; exit 3; }

post "$api/assessments" -d "$(jq -n --arg n "$name" --arg f "$framework" '{name: $n, framework_id: $f}')"
id=$(field .id)
echo "assessment $id"

for file in "$folder"/*; do
	[ -f "$file" ] || continue
	call -F "file=@\"$file\"" "$api/assessments/$id/documents"
	echo "  $(field .filename)"
done

# All the work up to the next decision is one run, which reports its progress.
post "$api/assessments/$id/workflows/lifecycle/start" -d '{}'
run=$(field .id)
while :; do
	call "$api/workflows/$run"
	case $(field .status) in
	pending | running) sleep 1 ;;
	waiting* | completed) break ;;
	*) echo "the run $run is $(field .status): $(field '.error // ""')" >&2; exit 3 ;;
	esac
done

call "$api/assessments/$id/status"
state=$(field .state)
approval=$(field '.pending_approval_id // empty')
call "$api/assessments/$id/soa"
soa=$(field '.data[0].id')
call "$api/soa/$soa/items?status=not_evidenced&limit=5"
echo "$(field .pagination.total) controls have no evidence, among them:"
field '.data[] | "  \(.control_code)  \(.title // .reason)"'
echo "state: $state"
if [ -n "$approval" ]; then
	echo "to decide: POST $api/approvals/$approval/approve, with a key that has approval:decide"
	exit 4
fi

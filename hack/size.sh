#!/usr/bin/env bash
# Prints lines of hand-written Go, tests and generated code apart, against the
# budgets of the architecture, and the controller's RBAC rules.
set -euo pipefail
cd "$(dirname "$0")/.."

lines() { # folders…
	find "$@" -name '*.go' ! -name '*_test.go' ! -name 'zz_generated*' -print0 | xargs -0 cat | wc -l
}
tests() { find "$@" -name '*_test.go' -print0 | xargs -0 cat | wc -l; }
row() { # name, budget, folders…
	local name=$1 budget=$2
	shift 2
	local n
	n=$(lines "$@")
	printf '%-34s %6d' "$name" "$n"
	if [ "$budget" -gt 0 ]; then printf '   budget %5d' "$budget"; else printf '%15s' ''; fi
	printf '   tests %6d' "$(tests "$@")"
	if [ "$budget" -gt 0 ] && [ "$n" -gt "$budget" ]; then printf '   OVER'; fi
	printf '\n'
}

printf 'Lines of hand-written Go\n'
row 'controller/' 1200 controller
row 'webhooks/ conversion/ certs/' 3000 webhooks conversion certs
row 'api/schedule/' 700 api/schedule
row 'api/ (types, contract)' 0 api/v1 api/v1alpha1 api/agent
row 'cmd/manager/' 0 cmd/manager
row 'cmd/agent/' 0 cmd/agent
row 'cmd/kubectl-backup/' 0 cmd/kubectl-backup
row 'test/cluster/' 0 test/cluster

# The cluster-wide role and the role for the lease.
rules=$(grep -c '^- apiGroups:' config/rbac/controller.yaml)
printf '\nRBAC rules of the controller        %6d   budget     8\n' "$rules"

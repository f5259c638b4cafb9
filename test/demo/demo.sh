#!/usr/bin/env bash
# The main job on a real Kubernetes, each command shown with what it really
# printed. KUBECONFIG points it at another cluster; without, one is started
# here. KEEP=1 leaves that one up.
set -euo pipefail
cd "$(dirname "$0")/../.."
export IMAGE VERSION CLUSTER
SECONDS=${ELAPSED:-0} # goes on where the part outside the cluster stopped

if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
step() { printf '\n%s=== %s (%d s)%s\n' "$bold" "$1" $SECONDS "$plain"; }
show() { # prints a command as typed and runs it
	printf '%s$ %s%s\n' "$bold" "$*" "$plain"
	"$@"
}
refused() { # show, for a command that has to fail
	printf '%s$ %s%s\n' "$bold" "$*" "$plain"
	if "$@"; then
		echo 'That should have been refused.' >&2
		exit 1
	fi
}

# Outside the cluster's network: build, start, and come back inside.
if [ -z "${INSIDE:-}" ]; then
	cat <<-TEXT
		backupjob-operator: scheduled database backups as Kubernetes resources.

		Creating a BackupJob or MySQLBackup runs nothing: it waits for its schedule.
		To run one now, give it a new value of one annotation, or use the plugin:
		  kubectl annotate mb/NAME --overwrite backup.example.com/run-requested-at="\$(date)"
		  kubectl backup run mb/NAME
	TEXT
	step 'Build the operator'
	make build
	if [ -n "${KUBECONFIG:-}" ]; then
		echo "Using the cluster of KUBECONFIG; it must be able to pull $IMAGE."
		INSIDE=1 ELAPSED=$SECONDS PATH="$PWD/bin:$PATH" exec bash test/demo/demo.sh
	fi
	if [ "$(id -u)" -ne 0 ] || [ "$(uname -s)" != Linux ]; then
		echo 'The embedded cluster runs Pods, which needs root on Linux. Point KUBECONFIG at a cluster instead.' >&2
		exit 1
	fi
	step 'Start a real Kubernetes; only the first time are its programs compiled, for a quarter of an hour or more'
	finish() {
		if [ -z "${KEEP:-}" ]; then
			step 'Stop the cluster'
			"$CLUSTER" down --name demo
		fi
	}
	trap finish EXIT
	trap 'exit 130' INT TERM
	"$CLUSTER" build
	"$CLUSTER" up --name demo
	"$CLUSTER" exec --name demo -- env INSIDE=1 ELAPSED=$SECONDS EMBEDDED=demo PATH="$PWD/bin:$PATH" bash -c \
		'PATH="$0:$PATH" exec bash test/demo/demo.sh' "$("$CLUSTER" assets)"
	if [ -n "${KEEP:-}" ]; then
		cat <<-TEXT

			The cluster is up, in a network of its own. To use it, with kubectl and the
			plugin on the PATH, and to stop it:
			  $CLUSTER exec --name demo -- bash -c 'PATH=$PWD/bin:\$PATH exec bash'
			  $CLUSTER down --name demo
		TEXT
	fi
	exit 0
fi

step 'Deploy config/default as it is shipped'
show bash test/deploy.sh
show kubectl -n backupjob-system get deployments,certificates

step 'A real MariaDB with data, and an empty one to restore into'
show kubectl apply -f test/database/servers.yaml
show kubectl rollout status deployment/mysql-primary deployment/mysql-empty --timeout=180s
sql() { # server, statement or standard input
	local server=$1
	shift
	kubectl exec -i "deploy/$server" -- sh -c 'exec mariadb -uroot -p"$MARIADB_ROOT_PASSWORD" --batch "$@"' sh "$@"
}
sql mysql-primary -e 'DROP DATABASE IF EXISTS user_profiles; DROP USER IF EXISTS "example-user"@"%"'
sql mysql-empty -e 'DROP DATABASE IF EXISTS user_profiles'
sql mysql-primary <test/database/data.sql
show sql mysql-primary -e 'SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = "user_profiles"'

step 'A manifest with four faults is refused in one answer'
show cat test/demo/faults.yaml
refused kubectl apply -f test/demo/faults.yaml

step 'A manifest of the old system, with the Secret and the claim that it needs, is accepted and read back as v1'
show cat config/samples/v1alpha1_mysqlbackup.yaml
show kubectl apply -f config/samples/v1alpha1_mysqlbackup.yaml
show kubectl get mysqlbackups.v1.backup.example.com backup-maindb -o yaml

step 'Nothing runs until its time; a run that is asked for runs now'
show kubectl get jobs
show kubectl annotate mb/backup-maindb --overwrite "backup.example.com/run-requested-at=$(date -u +%FT%TZ)"
show kubectl wait mb/backup-maindb --timeout=180s --for=jsonpath='{.status.lastResult}'=Succeeded
show kubectl get dbbackups
show kubectl get mb/backup-maindb -o jsonpath='{.status}'
echo
show kubectl get jobs,pods -l backup.example.com/name=backup-maindb

step 'The dump is restored into the empty server, and the tables compared'
kubectl delete job restore-maindb --ignore-not-found --wait >/dev/null
show kubectl apply -f test/database/restore.yaml
show kubectl wait job/restore-maindb --timeout=120s --for=condition=Complete
show kubectl logs job/restore-maindb
compare='CHECKSUM TABLE user_profiles.users, user_profiles.avatars, user_profiles.`odd name-täble`, user_profiles.empty_table, user_profiles.audit_log'
before=$(show sql mysql-primary -e "$compare")
after=$(show sql mysql-empty -e "$compare")
printf '%s\n%s\n' "$before" "$after"
if [ "$(tail -n +2 <<<"$before")" != "$(tail -n +2 <<<"$after")" ]; then
	echo 'The restored tables differ.' >&2
	exit 1
fi
printf '\nAll tables are the same. Backup made, restored and proved.\n'

#!/usr/bin/env bash
# Removes the operator from the cluster of kubectl, in the order in which
# nothing is left that blocks anything: the objects, the webhook configurations,
# the kinds, the rest. It may be run again, after any step.
#   OBJECTS=           stop if there are BackupJobs or MySQLBackups (the default)
#   OBJECTS=delete     delete them as their deletionPolicy says; this removes
#                      stored backups, and the controller has to run
#   OBJECTS=release    delete them and keep every stored backup; needs nothing
#                      of the operator, so it is the way out when that is gone
#   MANIFESTS=folder   what was applied
set -euo pipefail
cd "$(dirname "$0")/.."
: "${OBJECTS:=stop}" "${MANIFESTS:=config/default}"
kinds=(backupjobs.backup.example.com mysqlbackups.backup.example.com)
finalizer=backup.example.com/cleanup
ours=app.kubernetes.io/part-of=backupjob-operator
controller=app.kubernetes.io/name=backupjob-operator,app.kubernetes.io/component=controller
# Longer than the controller gives a clean-up.
patience=12m

say() { printf '\n=== %s\n' "$1"; }
objects() { # namespace, name and finalizers of each object of a kind
	kubectl get "$1" --all-namespaces --output=jsonpath='{range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{" "}{.metadata.finalizers}{"\n"}{end}'
}

refuse() { # what there is
	cat >&2 <<-TEXT
		Nothing was changed, because there are objects:
		$1
		Say what is to become of them and of their stored backups:
		  OBJECTS=delete   delete each as its deletionPolicy says: with Delete, its backups go too
		  OBJECTS=release  delete them all and keep every backup
	TEXT
	exit 1
}

delete_by_policy() {
	local kind running
	running=$(kubectl get deployments --all-namespaces --selector="$controller" --output=jsonpath='{.items[*].status.availableReplicas}')
	if [ -n "$there" ] && [ -z "$running" ]; then
		echo 'No controller runs that could remove backups. Start it, or keep all backups with OBJECTS=release.' >&2
		exit 1
	fi
	for kind in $served; do
		kubectl delete "$kind" --all --all-namespaces --timeout="$patience" || {
			echo 'Some objects do not go; their events and the controller say why. OBJECTS=release lets them go and keeps their backups.' >&2
			exit 1
		}
	done
	stop_jobs
}

release() {
	# First whatever would put a finalizer back, or go on removing backups.
	kubectl delete deployments --all-namespaces --selector="$controller" --cascade=foreground --timeout=2m
	stop_jobs
	unhook
	local kind list namespace name finalizers index
	for kind in $served; do
		# Without this a webhook that is gone would be asked to convert.
		kubectl patch crd "$kind" --type=merge --patch='{"spec":{"conversion":{"strategy":"None","webhook":null}}}'
		list=$(objects "$kind")
		while read -r namespace name finalizers; do
			index=$(tr -d '[]" ' <<<"$finalizers" | tr , '\n' | grep -nxF "$finalizer" | cut -d: -f1) || continue
			kubectl patch "$kind" --namespace="$namespace" "$name" --type=json --patch="[
				{\"op\":\"test\",\"path\":\"/metadata/finalizers/$((index - 1))\",\"value\":\"$finalizer\"},
				{\"op\":\"remove\",\"path\":\"/metadata/finalizers/$((index - 1))\"}]"
		done <<<"$list"
		kubectl delete "$kind" --all --all-namespaces --timeout=2m
	done
}

stop_jobs() { kubectl delete jobs --all-namespaces --selector=backup.example.com/uid --cascade=foreground --timeout=2m; }
unhook() { # the webhooks' configurations, and whatever else has a say in admission
	local resources
	resources=$(kubectl api-resources --api-group=admissionregistration.k8s.io --verbs=delete --output=name | paste -sd,)
	kubectl delete "$resources" --selector="$ours"
}

served=$(kubectl get crd "${kinds[@]}" --ignore-not-found --output=jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}')
there=''
for kind in $served; do
	found=$(objects "$kind" | awk -v kind="${kind%%.*}" 'NF {print "  " kind " " $1 "/" $2}')
	there+=${found:+$found$'\n'}
done
kept='Stored backups are where they were.'

case $OBJECTS in
stop) [ -z "$there" ] || refuse "${there%$'\n'}" ;;
delete)
	say 'Objects, as their deletionPolicy says'
	delete_by_policy
	kept='Stored backups are where they were, except those of objects with deletionPolicy Delete.'
	;;
release)
	say 'Objects; every stored backup stays'
	release
	;;
*)
	echo "OBJECTS=$OBJECTS must be delete or release, or not be set." >&2
	exit 1
	;;
esac

say 'Webhook configurations, before what they call'
unhook
say 'Kinds'
kubectl delete crd "${kinds[@]}" --ignore-not-found --timeout=2m
say 'The rest, with the namespace'
# Not all of its kinds need to be there still, such as those of cert-manager;
# what counts is what is left.
kubectl delete --kustomize="$MANIFESTS" --ignore-not-found --timeout=5m || true

resources=$(kubectl api-resources --namespaced=false --verbs=list --output=name | grep -v componentstatuses | paste -sd,)
left=$(kubectl get "$resources" --selector="$ours" --output=name --ignore-not-found)
if [ -n "$left" ]; then
	printf 'This is left:\n%s\n' "$left" >&2
	exit 1
fi
printf '\nNothing of the operator is left. %s\n' "$kept"

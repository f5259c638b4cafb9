// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

// stockConverter is controller-runtime's own handler with the conversion of
// the fields written as it is meant to be: between the types, by way of the
// hub.
func stockConverter() (http.Handler, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{backupv1.AddToScheme, backupv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	registry := conversion.NewRegistry()
	for kind, construct := range map[string]func(*runtime.Scheme) (conversion.Converter, error){
		backupv1.KindBackupJob: conversion.NewHubSpokeConverter(&backupv1.BackupJob{},
			conversion.NewSpokeConverter(&backupv1alpha1.BackupJob{}, backupJobToOld, backupJobToHub)),
		backupv1.KindMySQLBackup: conversion.NewHubSpokeConverter(&backupv1.MySQLBackup{},
			conversion.NewSpokeConverter(&backupv1alpha1.MySQLBackup{}, mySQLBackupToOld, mySQLBackupToHub)),
	} {
		converter, err := construct(scheme)
		if err != nil {
			return nil, err
		}
		if err := registry.RegisterConverter(backupv1.GroupVersion.WithKind(kind).GroupKind(), converter); err != nil {
			return nil, err
		}
	}
	return conversion.NewWebhookHandler(scheme, registry), nil
}

func backupJobToHub(_ context.Context, in *backupv1alpha1.BackupJob, out *backupv1.BackupJob) error {
	out.ObjectMeta, out.Status = in.ObjectMeta, in.Status
	out.Spec.Source.Engine = in.Spec.Engine
	out.Spec.Source.Server = serverToHub(in.Spec.DatabaseHost, &in.Spec.BackupPolicy)
	out.Spec.Source.Databases = databasesToHub(in.Spec.Database, in.Spec.Databases)
	out.Spec.BackupPolicy = policyToHub(in.Spec.Schedule, &in.Spec.BackupPolicy)
	return nil
}

func backupJobToOld(_ context.Context, in *backupv1.BackupJob, out *backupv1alpha1.BackupJob) error {
	out.ObjectMeta, out.Status = in.ObjectMeta, in.Status
	out.Spec.Engine = in.Spec.Source.Engine
	out.Spec.DatabaseHost = hostToOld(&in.Spec.Source.Server)
	out.Spec.Database, out.Spec.Databases = databasesToOld(in.Spec.Source.Databases)
	out.Spec.Schedule, out.Spec.BackupPolicy = policyToOld(&in.Spec.BackupPolicy, &in.Spec.Source.Server)
	return nil
}

func mySQLBackupToHub(_ context.Context, in *backupv1alpha1.MySQLBackup, out *backupv1.MySQLBackup) error {
	out.ObjectMeta = in.ObjectMeta
	out.Spec.Source.Server = serverToHub(in.Spec.Host, &in.Spec.BackupPolicy)
	out.Spec.Source.Databases = databasesToHub(in.Spec.Database, in.Spec.Databases)
	out.Spec.Source.Options = in.Spec.Options
	out.Spec.BackupPolicy = policyToHub(in.Spec.BackupSchedule, &in.Spec.BackupPolicy)
	s := &in.Status
	out.Status = backupv1.BackupStatus{
		ObservedGeneration: s.ObservedGeneration, Phase: s.Phase, LastResult: s.LastResult,
		LastScheduleTime: s.LastBackupTime, LastBackupTime: s.LastCompletionTime, LastSuccessfulTime: s.LastSuccessfulTime,
		NextScheduleTime: s.NextScheduleTime, LastSkippedTime: s.LastSkippedTime, LastHandledRunRequest: s.LastHandledRunRequest,
		Active: s.Active, LastBackup: s.LastBackup, ObservedSchedule: s.ObservedSchedule, Conditions: s.Conditions,
	}
	return nil
}

func mySQLBackupToOld(_ context.Context, in *backupv1.MySQLBackup, out *backupv1alpha1.MySQLBackup) error {
	out.ObjectMeta = in.ObjectMeta
	out.Spec.Host = hostToOld(&in.Spec.Source.Server)
	out.Spec.Database, out.Spec.Databases = databasesToOld(in.Spec.Source.Databases)
	out.Spec.Options = in.Spec.Source.Options
	out.Spec.BackupSchedule, out.Spec.BackupPolicy = policyToOld(&in.Spec.BackupPolicy, &in.Spec.Source.Server)
	s := &in.Status
	out.Status = backupv1alpha1.MySQLBackupStatus{
		BackupStatus:       backupv1alpha1.BackupState(s.LastResult),
		ObservedGeneration: s.ObservedGeneration, Phase: s.Phase, LastResult: s.LastResult,
		LastBackupTime: s.LastScheduleTime, LastCompletionTime: s.LastBackupTime, LastSuccessfulTime: s.LastSuccessfulTime,
		NextScheduleTime: s.NextScheduleTime, LastSkippedTime: s.LastSkippedTime, LastHandledRunRequest: s.LastHandledRunRequest,
		Active: s.Active, LastBackup: s.LastBackup, ObservedSchedule: s.ObservedSchedule, Conditions: s.Conditions,
	}
	if s.Phase == backupv1.PhaseRunning {
		out.Status.BackupStatus = backupv1alpha1.BackupState(s.Phase)
	}
	return nil
}

func serverToHub(host string, p *backupv1alpha1.BackupPolicy) backupv1.Server {
	out := backupv1.Server{Host: host, TLS: p.TLS}
	if name, port, err := net.SplitHostPort(host); err == nil {
		if number, err := strconv.ParseInt(port, 10, 32); err == nil {
			out.Host, out.Port = name, new(int32(number))
		}
	}
	if p.SecretRef != nil || p.CredentialKeys != nil {
		out.CredentialsSecretRef = &backupv1.CredentialsSecretRef{Name: p.SecretRef}
		if p.CredentialKeys != nil {
			out.CredentialsSecretRef.CredentialKeys = *p.CredentialKeys
		}
	}
	return out
}

func hostToOld(s *backupv1.Server) string {
	if s.Port == nil {
		return s.Host
	}
	return net.JoinHostPort(s.Host, strconv.Itoa(int(*s.Port)))
}

func databasesToHub(one *backupv1.DatabaseName, several []backupv1.DatabaseName) []backupv1.DatabaseName {
	if one != nil {
		return []backupv1.DatabaseName{*one}
	}
	return several
}

func databasesToOld(names []backupv1.DatabaseName) (*backupv1.DatabaseName, []backupv1.DatabaseName) {
	if len(names) == 1 {
		return &names[0], nil
	}
	return nil, names
}

func policyToHub(cron string, p *backupv1alpha1.BackupPolicy) backupv1.BackupPolicy {
	out := backupv1.BackupPolicy{
		Schedule: cron, Suspend: p.Suspend, ConcurrencyPolicy: p.ConcurrencyPolicy, StartingDeadlineSeconds: p.StartingDeadlineSeconds,
		MaxRetries: p.MaxRetries, ActiveDeadlineSeconds: p.ActiveDeadlineSeconds, Storage: p.Storage, Compression: p.Compression,
		DeletionPolicy: p.DeletionPolicy, SuccessfulJobsHistoryLimit: p.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit: p.FailedJobsHistoryLimit, PodTemplate: p.PodTemplate,
	}
	if expression, zone := schedule.SplitZone(cron); zone != "" {
		out.Schedule, out.TimeZone = expression, &zone
	}
	if p.RetentionDays != nil || p.MinBackups != nil {
		out.Retention = &backupv1.Retention{Days: p.RetentionDays, MinBackups: p.MinBackups}
	}
	if p.StorageClaim != nil {
		claim := backupv1.ClaimStorage{ClaimName: p.StorageClaim}
		if p.Storage != nil && p.Storage.PersistentVolumeClaim != nil {
			claim.SubPath = p.Storage.PersistentVolumeClaim.SubPath
		}
		out.Storage = &backupv1.Storage{PersistentVolumeClaim: &claim}
	}
	return out
}

func policyToOld(p *backupv1.BackupPolicy, s *backupv1.Server) (string, backupv1alpha1.BackupPolicy) {
	out := backupv1alpha1.BackupPolicy{
		Suspend: p.Suspend, ConcurrencyPolicy: p.ConcurrencyPolicy, StartingDeadlineSeconds: p.StartingDeadlineSeconds,
		MaxRetries: p.MaxRetries, ActiveDeadlineSeconds: p.ActiveDeadlineSeconds, Storage: p.Storage, Compression: p.Compression,
		DeletionPolicy: p.DeletionPolicy, SuccessfulJobsHistoryLimit: p.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit: p.FailedJobsHistoryLimit, PodTemplate: p.PodTemplate, TLS: s.TLS,
	}
	cron := p.Schedule
	if p.TimeZone != nil {
		cron = schedule.JoinZone(cron, *p.TimeZone)
	}
	if p.Retention != nil {
		out.RetentionDays, out.MinBackups = p.Retention.Days, p.Retention.MinBackups
	}
	if r := s.CredentialsSecretRef; r != nil {
		out.SecretRef = r.Name
		if r.UsernameKey != nil || r.PasswordKey != nil {
			out.CredentialKeys = &r.CredentialKeys
		}
	}
	if c := claimOf(p.Storage); c != nil && c.ClaimName != nil && c.SubPath == nil {
		out.StorageClaim, out.Storage = c.ClaimName, nil
	}
	return cron, out
}

func claimOf(s *backupv1.Storage) *backupv1.ClaimStorage {
	if s == nil {
		return nil
	}
	return s.PersistentVolumeClaim
}

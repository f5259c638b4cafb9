// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// newClient knows the kinds that are looked at without asking the server.
func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme,
		admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: kinds()})
	if err != nil {
		return nil, fmt.Errorf("make a client of the kubeconfig: %w", err)
	}
	return c, nil
}

func kinds() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	add := func(version schema.GroupVersion, scope meta.RESTScope, kinds ...string) {
		for _, kind := range kinds {
			m.Add(version.WithKind(kind), scope)
		}
	}
	add(admissionregistrationv1.SchemeGroupVersion, meta.RESTScopeRoot, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
	add(apiextensionsv1.SchemeGroupVersion, meta.RESTScopeRoot, "CustomResourceDefinition")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeRoot, "ClusterRole", "ClusterRoleBinding")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Role", "RoleBinding")
	add(corev1.SchemeGroupVersion, meta.RESTScopeRoot, "Namespace")
	add(corev1.SchemeGroupVersion, meta.RESTScopeNamespace, "Pod", "Service")
	add(appsv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Deployment")
	add(policyv1.SchemeGroupVersion, meta.RESTScopeNamespace, "PodDisruptionBudget")
	add(networkingv1.SchemeGroupVersion, meta.RESTScopeNamespace, "NetworkPolicy")
	add(certmanagerv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Certificate", "Issuer")
	add(schema.GroupVersion{Group: groupName, Version: oldVersion}, meta.RESTScopeNamespace, backupv1.KindBackupJob, backupv1.KindMySQLBackup)
	add(schema.GroupVersion{Group: groupName, Version: versionName}, meta.RESTScopeNamespace, backupv1.KindBackupJob, backupv1.KindMySQLBackup)
	return m
}

// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Engine is a kind of database server.
// +kubebuilder:validation:Enum=MySQL;MariaDB
type Engine string

// The engines.
const (
	EngineMySQL   Engine = "MySQL"
	EngineMariaDB Engine = "MariaDB"
)

// DatabaseName is the name of one database. It has 1 to 64 characters, no
// control characters, no slash or backslash, and does not begin with a hyphen
// or a dot.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[^-./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$`
type DatabaseName string

// Server says how to reach a database server and how to log in. Both kinds
// share it.
type Server struct {
	// host is the DNS name or IP address of the database server, without
	// scheme and port.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`
	Host string `json:"host"`

	// port is the server's TCP port. Unset means the engine's own, 3306.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// credentialsSecretRef names the Secret that holds the user name and the
	// password, in the object's namespace.
	// +optional
	// +kubebuilder:default={usernameKey:username,passwordKey:password}
	CredentialsSecretRef *CredentialsSecretRef `json:"credentialsSecretRef,omitempty"`

	// tls says whether the connection to the server is encrypted, and whom
	// it trusts.
	// +optional
	// +kubebuilder:default={}
	TLS *TLS `json:"tls,omitempty"`
}

// CredentialsSecretRef names the Secret with the credentials, and its keys.
type CredentialsSecretRef struct {
	// name is the name of the Secret. Unset means
	// "<object name>-credentials".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	Name *string `json:"name,omitempty"`

	CredentialKeys `json:",inline"`
}

// CredentialKeys are the keys of a Secret with credentials.
// +kubebuilder:validation:MinProperties=1
type CredentialKeys struct {
	// usernameKey is the Secret's key that holds the user name.
	// +optional
	// +kubebuilder:default=username
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	UsernameKey *string `json:"usernameKey,omitempty"`

	// passwordKey is the Secret's key that holds the password.
	// +optional
	// +kubebuilder:default=password
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	PasswordKey *string `json:"passwordKey,omitempty"`
}

// TLSMode says how far a connection is encrypted and checked.
// +kubebuilder:validation:Enum=Disabled;Preferred;Required;VerifyCA;VerifyIdentity
type TLSMode string

// The TLS modes, from the weakest to the strongest.
const (
	TLSDisabled       TLSMode = "Disabled"
	TLSPreferred      TLSMode = "Preferred"
	TLSRequired       TLSMode = "Required"
	TLSVerifyCA       TLSMode = "VerifyCA"
	TLSVerifyIdentity TLSMode = "VerifyIdentity"
)

// TLS says whether the connection to the server is encrypted.
type TLS struct {
	// mode is Disabled, Preferred (encrypted if the server can), Required
	// (encrypted, the server's certificate unchecked), VerifyCA (signed by
	// the CA of caSecretRef) or VerifyIdentity (and the host name checked).
	// +optional
	// +kubebuilder:default=Preferred
	Mode TLSMode `json:"mode,omitempty"`

	// caSecretRef names the Secret that holds the certificates of the CA, in
	// PEM. Unset means the CAs of the database client's image.
	// +optional
	CASecretRef *CASecretRef `json:"caSecretRef,omitempty"`
}

// CASecretRef names one key of a Secret with CA certificates.
type CASecretRef struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	Name string `json:"name"`

	// key is the Secret's key that holds the certificates.
	// +optional
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key *string `json:"key,omitempty"`
}

// MySQLOptions are the options of a dump of MySQL or MariaDB.
type MySQLOptions struct {
	// singleTransaction reads all tables in one transaction, so that the dump
	// is consistent without locking.
	// +optional
	// +kubebuilder:default=true
	SingleTransaction *bool `json:"singleTransaction,omitempty"`

	// routines puts stored procedures and functions into the dump.
	// +optional
	// +kubebuilder:default=true
	Routines *bool `json:"routines,omitempty"`

	// triggers puts triggers into the dump.
	// +optional
	// +kubebuilder:default=true
	Triggers *bool `json:"triggers,omitempty"`

	// events puts scheduled events into the dump.
	// +optional
	// +kubebuilder:default=true
	Events *bool `json:"events,omitempty"`

	// ignoreTables are tables that the dump leaves out, each written as
	// database.table. At most 256.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=3
	// +kubebuilder:validation:items:MaxLength=129
	// +kubebuilder:validation:items:Pattern=`^[^-./\\\x00-\x1f\x7f][^./\\\x00-\x1f\x7f]*\.[^./\\\x00-\x1f\x7f]+$`
	IgnoreTables []string `json:"ignoreTables,omitempty"`

	// setGTIDPurged says whether the dump sets the server's GTID_PURGED on
	// restore: Auto, On or Off. Only MySQL's own client knows it.
	// +optional
	// +kubebuilder:default=Auto
	SetGTIDPurged GTIDPurged `json:"setGTIDPurged,omitempty"`
}

// GTIDPurged says whether a dump sets GTID_PURGED.
// +kubebuilder:validation:Enum=Auto;On;Off
type GTIDPurged string

// The settings of setGTIDPurged.
const (
	GTIDPurgedAuto GTIDPurged = "Auto"
	GTIDPurgedOn   GTIDPurged = "On"
	GTIDPurgedOff  GTIDPurged = "Off"
)

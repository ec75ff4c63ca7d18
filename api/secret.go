package api

import "reflect"

// secretRecord is implemented by outputs with a secret that is shown once.
type secretRecord interface{ holdsSecret() }

func (NewAPIKey) holdsSecret()       {}
func (NewWebhook) holdsSecret()      {}
func (NewMember) holdsSecret()       {}
func (NewOrganization) holdsSecret() {}
func (PasswordLink) holdsSecret()    {}

// ReturnsSecret reports whether the response contains a secret, which no cache may keep.
func (o *Operation) ReturnsSecret() bool { return o.Out.Implements(reflect.TypeFor[secretRecord]()) }

package api

import "reflect"

// secretRecord is implemented by outputs that contain a secret, which is shown only once.
type secretRecord interface{ holdsSecret() }

func (NewAPIKey) holdsSecret()       {}
func (NewWebhook) holdsSecret()      {}
func (NewMember) holdsSecret()       {}
func (NewOrganization) holdsSecret() {}
func (PasswordLink) holdsSecret()    {}

// ReturnsSecret reports whether the response contains a secret, which must not be cached.
func (o *Operation) ReturnsSecret() bool { return o.Out.Implements(reflect.TypeFor[secretRecord]()) }

package judge

import (
	"strings"

	"github.com/scf-service/service/api"
)

// setByPrefix is the start of the reason stored with an SoA line whose status was set by a user. The user's name
// follows.
const setByPrefix = "Set by "

// StatusSetByReason returns the reason stored with an SoA line whose status was set by the named user.
func StatusSetByReason(userName string) string { return setByPrefix + userName + "." }

// UserWhoSetStatus returns the user who overrode the status, or "" if the status is automatic.
func UserWhoSetStatus(item api.SoAItem) string {
	if !item.IsStatusOverruled() {
		return ""
	}
	if name, is := strings.CutPrefix(item.Reason, setByPrefix); is {
		return strings.TrimSuffix(name, ".")
	}
	if item.EditedBy != nil && *item.EditedBy != "" {
		return *item.EditedBy
	}
	return "a person"
}

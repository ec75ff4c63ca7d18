package text

import (
	"testing"
)

// The absence of a thing is a gap only if the thing is a safeguard.
func TestHarmlessDenials(t *testing.T) {
	for text, lacks := range map[string]bool{
		"There were no incidents in the third quarter.":                   false,
		"No vulnerabilities were found in the scan of September.":         false,
		"No exceptions to the policy have been requested.":                false,
		"No deviations from the baseline were found.":                     false,
		"No changes were made to the firewall.":                           false,
		"We had no complaints.":                                           false,
		"We have no visitors, no branch offices and no wireless network.": false,
		"We do not use removable media.":                                  false,
		"We don't develop any applications.":                              false,
		"There is no personal data in the test environment.":              false,
		"No test failed.":                                                        false,
		"No training is overdue.":                                                false,
		"No access right had to be removed.":                                     false,
		"No accounts were compromised.":                                          false,
		"Nothing unusual was noted on the guard's round.":                        false,
		"The scan did not reveal any critical vulnerabilities.":                  false,
		"We have never suffered a ransomware attack.":                            false,
		"Generic or shared accounts do not exist in the system.":                 false,
		"Our consultants do not work with classified information.":               false,
		"The storm caused no damage to the cabling.":                             false,
		"No breaches had to be reported to the authority.":                       false,
		"The simulation ended with a click rate of 2 %, and no one entered it.":  false,
		"Without a valid badge, no one is admitted to the laboratory.":           false,
		"Visitors who fail to show identification are refused entry.":            false,
		"Staff who do not complete the training lose their network access.":      false,
		"The audit did not find evidence of access reviews.":                     true,
		"We have staff who do not complete the training.":                        true,
		"The logs are not read.":                                                 true,
		"Not a single server has been patched since May.":                        true,
		"None of the logs is read.":                                              true,
		"Customers were not affected.":                                           false,
		"None of the laptops was lost or stolen.":                                false,
		"Not a single suspicious transaction was recorded.":                      false,
		"The test revealed no critical or high-risk vulnerabilities.":            false,
		"No personal data leaves the European Economic Area.":                    false,
		"The scan came back without any findings.":                               false,
		"Analysis found no evidence that data had been stolen.":                  false,
		"There is no evidence of a review.":                                      true,
		"There are no outstanding actions.":                                      false,
		"The gap in logging is no longer present.":                               false,
		"The reviews are no longer held.":                                        true,
		"Two intrusions were stopped by the firewall.":                           false,
		"There is no incident register.":                                         true,
		"No incidents are followed up.":                                          true,
		"No changes are tested before they go live.":                             true,
		"No vulnerabilities were fixed in time.":                                 true,
		"We have no SIEM.":                                                       true,
		"We have no visitors and no visitor log.":                                true,
		"We do not use encryption.":                                              true,
		"There is no separate network for guests.":                               true,
		"There is no server to which logs are sent.":                             true,
		"We do not keep a backup server.":                                        true,
		"No test has been held.":                                                 true,
		"No laptops are encrypted.":                                              true,
		"No suppliers were assessed.":                                            true,
		"No account is closed when somebody leaves.":                             true,
		"We have no data on who was trained and no list of those who were not.":  true,
		"There are no alarms in the archive.":                                    true,
		"There is no one who looks at the alerts.":                               true,
		"The firewall is not switched on.":                                       true,
		"We don't review the rights of our suppliers.":                           true,
		"No owner has been named for the systems that hold personal data so far": true,
	} {
		s := Analyze(text, 2026).Sentences[0]
		if got := s.Denied&^s.harmless != 0; got != lacks {
			t.Errorf("%q: denied %b, harmless %b", text, s.Denied, s.harmless)
		}
	}
}

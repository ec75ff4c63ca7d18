// Package check checks the results of an assessment against a policy and returns a verdict with its
// reasons, in formats that CI pipelines read.
//
// It is pure: facts, policy, baseline, waivers and the date go in, and a result comes out; the same
// input gives the same bytes. It opens no files, has no network access and reads no clock. Findings
// are rated elsewhere; here they are only compared with the policy.
package check

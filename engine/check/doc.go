// Package check holds what an assessment found against a policy, and tells how that came
// out: a verdict with its reasons, in the formats that pipelines read.
//
// It is pure: facts, policy, baseline, waivers and the day come in, a result goes out, the
// same bytes for the same input. It opens no file, asks nobody, and knows no clock. What a
// finding is worth is judged elsewhere; here it is only compared with what was asked for.
package check

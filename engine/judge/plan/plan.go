// Package plan derives what follows from the verdicts of a Statement of Applicability: findings
// with their severity, maturity scores, the items of the plan of action and their order, compliance
// figures, and whether CMMC allows the plan of action.
//
// Its functions only compute: the caller assigns IDs and saves the results.
package plan

// Package plan drafts the plan of action and milestones (POA&M) for the findings of a gap analysis: its items, their
// order, dates and dependencies, and whether CMMC allows the plan.
//
// Its functions only compute: the caller assigns IDs and saves the results.
package plan

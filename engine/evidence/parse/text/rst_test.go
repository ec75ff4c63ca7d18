package text_test

import (
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestRST(t *testing.T) {
	doc := parsetest.Read(t, "a.rst", []byte(`=============
Access policy
=============

:Version: 1.4
:Owner: Head of IT

Rules
=====

Access is *given* by **role** and `+"``need``"+`; see `+"`the matrix <https://example.com/m>`_ and :ref:`review`"+` [1]_.

1. First
2. Second with
   more of it

- dot

.. note:: Exceptions need
   the CISO.

.. toctree::
   :maxdepth: 2

   other

.. a comment that says nothing

Run::

    ssh host
      exit

Matrix
------

=====  =========
Role   Right
=====  =========
Admin  all
User   read
       only
=====  =========

+-------+--------+
| Asset | Owner  |
+=======+========+
| Mail  | IT and |
|       | ops    |
+-------+--------+

.. [1] Kept by the owner.
`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Access policy
	| Version: 1.4  {Access policy}
	| Owner: Head of IT  {Access policy}
	## Rules  {Access policy}
	¶ Access is given by role and need; see the matrix and review .  {Access policy > Rules}
	- 1. First  {Access policy > Rules}
	- 2. Second with more of it  {Access policy > Rules}
	- dot  {Access policy > Rules}
	¶ Exceptions need the CISO.  {Access policy > Rules}
	¶ Run:  {Access policy > Rules}
	>     ssh host⏎      exit  {Access policy > Rules}
	### Matrix  {Access policy > Rules}
	| Role: Admin; Right: all  {Access policy > Rules > Matrix}
	| Role: User; Right: read only  {Access policy > Rules > Matrix}
	| Asset: Mail; Owner: IT and ops  {Access policy > Rules > Matrix}
	¶ Kept by the owner.  {Access policy > Rules > Matrix}
	`)
	if doc.Title != "Access policy" || doc.Version != "1.4" || doc.Owner != "Head of IT" {
		t.Errorf("title %q, version %q, owner %q", doc.Title, doc.Version, doc.Owner)
	}
	if at := doc.Blocks[4].Locator; at.LineStart != 11 || at.LineEnd != 11 {
		t.Errorf("place %+v", at)
	}
}

func FuzzRST(f *testing.F) {
	parsetest.Fuzz(
		f,
		"a.rst",
		"A\n=\n\n.. note:: b\n   c\n\n== ==\na  b\n== ==\nc  d\n== ==\n",
		"+-+-+\n|a|b|\n+=+=+\n|c|d|\n+-+-+\n",
		"x::\n\n  y\n\n:Version: 1\n\n.. [1] z",
	)
}

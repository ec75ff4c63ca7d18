package document

import "strings"

// FactKind is the kind of a fact.
type FactKind int

// The kinds of facts.
const (
	FactEffective FactKind = iota + 1
	FactApproved           // approval date, or approver
	FactRevised            // last updated, reviewed or issued; used as effective date if there is no other
	FactVersion
	FactOwner
	FactApprovedBy
	FactTitle
)

// factKeys lists the labels that introduce facts in document headers, in lower case and without a colon. They
// are in English, German, French, Spanish, Portuguese, Italian and Dutch.
var factKeys = map[FactKind][]string{
	FactEffective: {
		"effective", "effective date", "date effective", "effective from", "effective as of", "valid from",
		"in force from", "in force since", "date of effect", "entry into force", "policy effective date",
		"start date", "go-live date",
		"gültig ab", "gültig seit", "inkrafttreten", "in kraft seit", "in kraft ab", "en vigueur",
		"date d'entrée en vigueur", "date d'effet", "entrée en vigueur", "fecha de entrada en vigor",
		"fecha de vigencia", "vigente desde", "en vigor desde",
		"data de vigência", "data de entrada em vigor", "em vigor desde", "data di entrata in vigore",
		"in vigore dal", "valido dal", "ingangsdatum", "geldig vanaf", "van kracht sinds",
	},
	FactApproved: {
		"approved",
		"approval",
		"approval date",
		"date approved",
		"date of approval",
		"approved on",
		"freigegeben am",
		"genehmigt am",
		"freigabedatum",
		"date d'approbation",
		"fecha de aprobación",
		"data de aprovação",
		"data di approvazione",
		"goedgekeurd op",
	},
	FactRevised: {
		"last updated", "last modified", "updated", "last update", "date", "document date",
		"issue date", "date issued", "date of issue", "date of revision", "date of last revision",
		"date of publication", "issued", "publication date", "published", "release date",
		"revision date", "last revised", "revised", "last reviewed", "last review", "last review date",
		"review date", "date of last review", "version date", "date of version",
		"stand", "datum", "letzte aktualisierung", "letzte änderung", "letzte überprüfung", "ausgabedatum",
		"dernière mise à jour", "date de publication", "date de révision", "última actualización",
		"última revisión", "fecha", "fecha de revisión", "fecha de publicación", "última atualização",
		"data", "data de revisão", "ultimo aggiornamento", "data di revisione", "laatst bijgewerkt",
		"laatste wijziging",
	},
	FactVersion: {
		"version",
		"version number",
		"version no",
		"version no.",
		"document version",
		"policy version",
		"current version",
		"revision",
		"revision number",
		"rev",
		"rev.",
		"ver",
		"ver.",
		"dokumentversion",
		"versionsnummer",
		"versión",
		"versão",
		"versione",
		"revisie",
		"versie",
		"version du document",
		"release",
	},
	FactOwner: {
		"owner", "document owner", "policy owner", "process owner", "procedure owner", "standard owner",
		"plan owner", "charter owner", "guideline owner", "manual owner", "owned by",
		"responsible owner", "policy holder", "owner(s)", "document custodian", "custodian", "responsible",
		"accountable", "responsible person", "person responsible", "document manager", "maintained by",
		"eigentümer", "dokumenteneigner", "dokumentenverantwortlicher", "verantwortlich",
		"verantwortlicher", "inhaber",
		"propriétaire", "propriétaire du document", "responsable", "propietario", "propietario del documento",
		"proprietário", "responsável", "proprietario", "responsabile", "eigenaar", "documenteigenaar",
	},
	FactApprovedBy: {
		"approved by",
		"approver",
		"approver(s)",
		"approvers",
		"authorised by",
		"authorized by",
		"policy approver",
		"approving authority",
		"approval authority",
		"signed off by",
		"adopted by",
		"endorsed by",
		"ratified by",
		"authorised signatory",
		"authorized signatory",
		"freigegeben durch",
		"freigegeben von",
		"genehmigt durch",
		"genehmigt von",
		"freigabe durch",
		"approuvé par",
		"aprobado por",
		"aprovado por",
		"approvato da",
		"goedgekeurd door",
	},
	FactTitle: {
		"title", "document title", "policy title", "policy name", "document name", "title of document", "name of document",
		"titel", "titre", "título", "titolo",
	},
}

var factByKey = func() map[string]FactKind {
	m := map[string]FactKind{}
	for kind, keys := range factKeys {
		for _, k := range keys {
			m[k] = kind
		}
	}
	return m
}()

// maxFactKey is the maximum size of a label in bytes, including surrounding punctuation.
const maxFactKey = 60

// FactKindOf returns the kind of fact that a label such as "Owner" introduces.
func FactKindOf(key string) (FactKind, bool) {
	if len(key) > maxFactKey {
		return 0, false
	}
	key = strings.ReplaceAll(strings.ToLower(strings.Trim(key, " :*_#\t\u00a0")), "_", " ")
	kind, ok := factByKey[key]
	if at := strings.IndexAny(key, "/("); !ok && at > 0 { // "Version / date", "Owner (role)"
		kind, ok = factByKey[strings.TrimSpace(key[:at])]
	}
	return kind, ok
}

package main

import "encoding/xml"

// The parts of a Word file that are the same in every document.

const docxNamespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

const (
	officeRel  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	packageRel = "http://schemas.openxmlformats.org/package/2006/relationships"
	wordType   = "application/vnd.openxmlformats-officedocument.wordprocessingml."
)

const docxTypes = xml.Header + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/xml"/>` +
	`<Override PartName="/word/document.xml" ContentType="` + wordType + `document.main+xml"/>` +
	`<Override PartName="/word/styles.xml" ContentType="` + wordType + `styles+xml"/>` +
	`<Override PartName="/word/numbering.xml" ContentType="` + wordType + `numbering+xml"/>` +
	`<Override PartName="/word/settings.xml" ContentType="` + wordType + `settings+xml"/>` +
	`<Override PartName="/word/footer1.xml" ContentType="` + wordType + `footer+xml"/>` +
	`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
	`<Override PartName="/docProps/app.xml" ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/>` +
	`</Types>`

const docxRels = xml.Header + `<Relationships xmlns="` + packageRel + `">` +
	`<Relationship Id="rId1" Type="` + officeRel + `officeDocument" Target="word/document.xml"/>` +
	`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>` +
	`<Relationship Id="rId3" Type="` + officeRel + `extended-properties" Target="docProps/app.xml"/>` +
	`</Relationships>`

const docxDocumentRels = xml.Header + `<Relationships xmlns="` + packageRel + `">` +
	`<Relationship Id="rId1" Type="` + officeRel + `styles" Target="styles.xml"/>` +
	`<Relationship Id="rId2" Type="` + officeRel + `numbering" Target="numbering.xml"/>` +
	`<Relationship Id="rId3" Type="` + officeRel + `settings" Target="settings.xml"/>` +
	`<Relationship Id="rId4" Type="` + officeRel + `footer" Target="footer1.xml"/>` +
	`</Relationships>`

const docxApp = xml.Header + `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">` +
	`<Company>Harborquill Cargo Limited</Company></Properties>`

const docxSettings = xml.Header + `<w:settings ` + docxNamespaces + `><w:defaultTabStop w:val="720"/></w:settings>`

const docxStyles = xml.Header + `<w:styles ` + docxNamespaces + `>` +
	`<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/><w:lang w:val="en-IE"/></w:rPr></w:rPrDefault>` +
	`<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>` +
	`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/>` +
	`<w:pPr><w:spacing w:after="240"/></w:pPr><w:rPr><w:b/><w:color w:val="1F3B57"/><w:sz w:val="40"/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/>` +
	`<w:pPr><w:keepNext/><w:spacing w:before="320" w:after="120"/><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:color w:val="1F3B57"/><w:sz w:val="28"/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/>` +
	`<w:pPr><w:keepNext/><w:spacing w:before="200" w:after="80"/><w:outlineLvl w:val="1"/></w:pPr><w:rPr><w:b/><w:color w:val="1F3B57"/><w:sz w:val="24"/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="ListBullet"><w:name w:val="List Bullet"/><w:basedOn w:val="Normal"/><w:pPr><w:spacing w:after="60"/></w:pPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="ListNumber"><w:name w:val="List Number"/><w:basedOn w:val="Normal"/><w:pPr><w:spacing w:after="60"/></w:pPr></w:style>` +
	`<w:style w:type="paragraph" w:customStyle="1" w:styleId="TableText"><w:name w:val="Table Text"/><w:basedOn w:val="Normal"/>` +
	`<w:pPr><w:spacing w:before="40" w:after="40" w:line="240" w:lineRule="auto"/></w:pPr><w:rPr><w:sz w:val="20"/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Footer"><w:name w:val="footer"/><w:basedOn w:val="Normal"/>` +
	`<w:pPr><w:tabs><w:tab w:val="right" w:pos="9412"/></w:tabs></w:pPr><w:rPr><w:color w:val="5B6770"/><w:sz w:val="16"/></w:rPr></w:style>` +
	`<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/>` +
	`<w:tblPr><w:tblCellMar><w:left w:w="100" w:type="dxa"/><w:right w:w="100" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>` +
	`<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders>` +
	`<w:top w:val="single" w:sz="4" w:color="BFC7D1"/><w:left w:val="single" w:sz="4" w:color="BFC7D1"/>` +
	`<w:bottom w:val="single" w:sz="4" w:color="BFC7D1"/><w:right w:val="single" w:sz="4" w:color="BFC7D1"/>` +
	`<w:insideH w:val="single" w:sz="4" w:color="BFC7D1"/><w:insideV w:val="single" w:sz="4" w:color="BFC7D1"/>` +
	`</w:tblBorders></w:tblPr></w:style></w:styles>`

package language

import "unicode"

// functionWords lists, for each language in Latin letters, its frequent function words (articles, prepositions,
// conjunctions, auxiliaries) and its accented letters. English has accented letters only in names and a few words.
var functionWords = []struct{ code, words, accents string }{
	{"en", `the and of to is that for with are must be by this all or shall not from any which will has have been was were it its
		their they we our you your should may can if when who each other than these those such an as on at in into only no do does
		within under before after but about also where how what there more least`, ""},
	{"de", `der die das und ist nicht von mit für werden auf eine einer eines einem einen den dem sind zu müssen muss oder wird des
		im am zum zur bei nach durch aus über unter vor alle als auch sowie wenn dass kann können darf dürfen hat haben sich wurde
		wurden nur noch ein es sie wir wie bis jede jeder jedes mindestens gemäß sofern diese dieser dieses an in ihre unsere kein
		keine binnen innerhalb stunden tage sicherheit mitarbeiter verantwortlich dokumentiert erfolgt erhalten ihren deren`, "äöüß"},
	{"fr", `le les des et est une du dans pour sont que par aux doit doivent ou sur avec ces cette ce qui la un en au il elle ne pas
		être tous toutes tout leur leurs nous vous ont sans selon afin ainsi chaque peut peuvent lors entre après avant toute qu d l
		n s à de heures jours sécurité obligatoire ensemble dès jusqu dont mots collaborateurs responsable données cet`, "àâæçèéêëîïôùûœ"},
	{"es", `el los las y del una por para con que se deben debe es son su sus como al esta este en un la lo no más todos todas cada
		sin según entre sobre ser está están ha han cuando desde también puede pueden si cualquier antes después de o a otro otra
		otros vez años e hacia horas días seguridad obligatorio hasta datos empleados responsable cuyo`, "áéíñóúü"},
	{"pt", `os as e do da dos das uma para com que não são devem deve ser ou ao pela pelo em um no na nos nas por se é como mais
		todos todas cada sem sobre entre está foi quando pode podem seus suas também aos às após antes de o a horas dias segurança
		obrigatório até dados colaboradores responsável`, "àáâãçéêíóôõú"},
	{"it", `il gli della di che per con sono una dei delle nel deve devono ed alla è le essere da un dell all nella al del non si i
		la lo come ogni tutti tutte anche dal dalla alle ai sul sulla viene vengono può possono prima dopo secondo questo questa e
		in a o altro altra altri presso oppure durante ne ore giorni sicurezza obbligatoria obbligatorio entro fino dati dipendenti
		responsabile`, "àèéìòù"},
	{"nl", `het een van en niet zijn voor met op worden moet moeten dat aan wordt bij ook deze of de te door naar uit kan kunnen als
		alle elke dit die heeft hebben er om tot onder over binnen minimaal geen onze na volgens in is elk overige was zoals tussen
		uur dagen beveiliging verplicht gegevens medewerkers verantwoordelijk hun`, "éëïö"},
	{"pl", `nie się jest oraz są dla przez od lub które musi muszą być jako ich w z na do i że który która po przed każdy każda
		wszystkie wszystkich może mogą zgodnie podczas tylko zostać także przy o a co to należy ciągu godzin dni bezpieczeństwa
		danych pracownicy`, "ąćęłńóśźż"},
	{"sv", `och att som är inte av för ska eller från på till ett vid måste den det med en de i om kan har alla varje ha skall vara
		sig under efter innan enligt samt även minst får inom timmar dagar säkerhet uppgifter medarbetare ansvarig`, "åäöé"},
	{"da", `og af ikke er skal eller på til fra ved bliver hver at det den de en et som med for kan har alle være efter før også
		blev må hvor mellem samt mindst hvis når deres i om adgang bruges gøres hvordan nogen kun inden timer dage sikkerhed
		oplysninger medarbejdere ansvarlig indtil melder`, "åæøé"},
	{"nb", `og av ikke er skal eller på til fra ved blir hver at det den de en et som med for kan har alle være etter før også ble
		må hvor mellom samt minst hvis når deres gjennom dersom i om tilgang brukes gjøres hvordan noen kun innen timer dager
		sikkerhet opplysninger ansvarlig inntil melder`, "åæøé"},
	{"fi", `ja ei ovat että tai sekä mukaan kun voi ole myös kaikki on jos kuin ennen jälkeen mutta vain joka jotka tulee pitää sen
		niiden kautta vähintään saa voidaan kanssa eivät myöskään täytyy olla aina kuluessa tunnin päivän tietoturva tietojen
		työntekijät vastaa ilmoitettava tehdään`, "äö"},
	{"cs", `je jsou nebo být musí podle která které ve při není a v na se s z pro do že který jako po před každý všechny všech může
		mohou také pouze jejich od k o by byl byla jeho své aby než všichni jsme kdy když ale hodin dnů bezpečnosti údajů
		zaměstnanci odpovídá až`, "áčďéěíňóřšťúůýž"},
	{"sk", `je sú alebo byť musí podľa ktorá ktoré vo pri nie a v na sa s z pre do že ktorý ako po pred každý všetky všetkých môže
		môžu tiež iba ich od k o by bol bola jeho svoje aby kým všetci než keď ale hodín dní bezpečnosti údajov zamestnanci
		zodpovedá až`, "áäčďéíĺľňóôŕšťúýž"},
	{"hu", `a az és nem hogy egy vagy kell minden meg van csak is után előtt szerint által valamint lehet ha ezt mint számára való
		alapján pedig esetén nélkül akkor amely kerül órán belül napon biztonsági adatok munkatársak felelős lesz`, "áéíóöőúüű"},
	{"ro", `și în de la cu pe pentru este sunt nu se din care sau că trebuie toate toți prin ale lui unui unei fi după înainte
		fiecare conform poate cel puțin al a o un sa ore zile securitate datelor angajații responsabil până`, "ăâîșțşţ"},
	{"tr", `ve bir bu için ile olarak veya olan değil tarafından gibi tüm her en az da de olduğu sonra önce kadar göre edilir
		olmalıdır gerekir daha ise edilmelidir yapılır saat içinde gün güvenlik verilerin çalışanlar sorumlu`, "çğıöşüâ"},
	{"hr", `je i u na se za su da ne od ili kao koji koja koje s prema prije nakon mora moraju biti svi sve može mogu također kroz
		te samo iz o a bi nego nisu ako sati dana sigurnosti podataka zaposlenici odgovoran ih`, "čćđšž"},
	{"sl", `je in v na se za so da ne od ali kot ki s po pred mora morajo biti vsi vse lahko tudi le pri ter iz o katere kateri niso
		če tiste preden oziroma bo`, "čšž"},
	{"et", `ja ei on või kui et see mis kes peab tuleb kõik ning iga enne pärast vastavalt võib olema ka nende oma kord aga siis`, "äõöüšž"},
	{"lv", `un ir no ar uz par kas vai ja jābūt tiek visi visas pēc pirms saskaņā var kā arī tikai katru`, "āčēģīķļņšūž"},
	{"lt", `ir yra kad arba turi būti su iš per visi visos po prieš pagal gali kaip taip pat ne nuo tik kiekvieną į`, "ąčęėįšųūž"},
	{"id", `dan yang di untuk dengan dari pada tidak ini adalah harus dalam atau oleh akan setiap semua sebelum setelah ke dapat
		telah serta agar`, ""},
	{"vi", `và của các được cho là phải không trong với có những một để khi theo tất cả mỗi này
		từ`, "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"},
	{"ca", `el els les i de la amb per que són és una dels ha han no es ser cada tots totes aquest aquesta segons abans després pot
		poden al del en un a o`, "àçèéíïòóúü"},
	{"la", `lorem ipsum dolor sit amet consectetur adipiscing elit sed ut et aliqua enim minim veniam quis nostrud`, ""},
}

// weakWords are function words that also occur in names, in English text, in codes, or in source code. They count as
// half, and no language is recognized by them alone.
const weakWords = `a e i o u y w z v k s d l n en de la le el al di da do dos des du del dell der den die das van von ten ter im
	am an bin per
	non via son sea los las hat war man men met door over want under pod var for set as no on is in of at to so or par sur plus
	pour all has ha co by es et un sa te er om si su sin not are it ai ed id ar ne na po od ve az ki ja ka ke con com sit meg kan
	era ale pat kas was kun kord bo siis`

// contentWords lists the words in functionWords that carry meaning.
const contentWords = `stunden tage sicherheit mitarbeiter verantwortlich dokumentiert heures jours sécurité obligatoire collaborateurs
	responsable données horas días seguridad obligatorio datos empleados dias segurança obrigatório dados colaboradores
	responsável ore giorni sicurezza obbligatoria obbligatorio dati dipendenti responsabile uur dagen beveiliging
	verplicht gegevens medewerkers verantwoordelijk godzin dni bezpieczeństwa danych pracownicy timmar dagar säkerhet
	uppgifter medarbetare ansvarig timer dage sikkerhed oplysninger medarbejdere ansvarlig dager sikkerhet opplysninger
	tilgang adgang tunnin päivän tietoturva tietojen työntekijät hodin dnů bezpečnosti údajů zaměstnanci hodín dní údajov
	zamestnanci órán napon biztonsági adatok munkatársak felelős zile securitate datelor angajații responsabil saat gün
	güvenlik verilerin çalışanlar sorumlu sati dana sigurnosti podataka zaposlenici odgovoran`

// scripts lists the scripts other than Latin, with the language that each one indicates. Scripts of the same group can
// occur together in a text; the first one that makes up a tenth of the text determines the language.
var scripts = []struct {
	group, language string
	letters         *unicode.RangeTable
}{
	{"han", "ja", unicode.Hiragana},
	{"han", "ja", unicode.Katakana},
	{"han", "ko", unicode.Hangul},
	{"han", "zh", unicode.Han},
	{"cyrillic", "ru", unicode.Cyrillic},
	{"greek", "el", unicode.Greek},
	{"arabic", "ar", unicode.Arabic},
	{"hebrew", "he", unicode.Hebrew},
	{"devanagari", "hi", unicode.Devanagari},
	{"thai", "th", unicode.Thai},
	{"georgian", "ka", unicode.Georgian},
	{"armenian", "hy", unicode.Armenian},
}

// tellingLetters lists letters that distinguish a language from the one that its script usually indicates.
var tellingLetters = []struct{ script, code, letters string }{
	{"cyrillic", "uk", "іїєґ"},
	{"cyrillic", "sr", "ђјљњћџ"},
	{"cyrillic", "ru", "ыэё"},
	{"cyrillic", "bg", "ъщ"},
	{"arabic", "fa", "پچژگیک"},
}

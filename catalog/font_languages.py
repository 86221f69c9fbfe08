"""The languages that a font covers, by the letters of their alphabets."""

from collections.abc import Container

# Letters beside A to Z, in lower case, and for other scripts than Latin the whole alphabet (Unicode CLDR, main exemplar characters).
WITH_CASE = {
    "Afrikaans": "áäèéêëíîïòóôöúûüý",
    "Albanian": "çë",
    "Armenian": "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ",
    "Azerbaijani": "çöüğışəİ",
    "Basque": "çñ",
    "Belarusian": "абвгдежзйклмнопрстуфхцчшыьэюяёіў",
    "Bosnian": "ćčđšž",
    "Bulgarian": "абвгдежзийклмнопрстуфхцчшщъьюя",
    "Catalan": "àçèéíïòóúü",
    "Croatian": "ćčđšž",
    "Czech": "áéíóúýčďěňřšťůž",
    "Danish": "åæø",
    "Dutch": "áäéëíïóöúüý",
    "English": "",
    "Estonian": "äõöüšž",
    "Filipino": "ñ",
    "Finnish": "äåöšž",
    "French": "àâæçèéêëîïôùûüÿœ",
    "Galician": "áéíïñóúü",
    "German": "ßäöü",
    "Greek": "ΐάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ",
    "Hungarian": "áéíóöúüőű",
    "Icelandic": "áæéíðóöúýþ",
    "Indonesian": "",
    "Irish": "áéíóú",
    "Italian": "àèéìòóù",
    "Kazakh": "абвгдежзийклмнопрстуфхцчшщъыьэюяёіғқңүұһәө",
    "Latvian": "āčēģīķļņšūž",
    "Lithuanian": "ąčėęįšūųž",
    "Luxembourgish": "äéë",
    "Macedonian": "абвгдежзиклмнопрстуфхцчшѓѕјљњќџ",
    "Malay": "",
    "Maltese": "àèìòùċġħż",
    "Maori": "āēīōū",
    "Mongolian": "абвгдежзийклмнопрстуфхцчшщъыьэюяёүө",
    "Norwegian": "àåæèéêòóôø",
    "Polish": "óąćęłńśźż",
    "Portuguese": "àáâãçéêíòóôõú",
    "Romanian": "âîășț",
    "Russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "Scottish Gaelic": "àèìòù",
    "Serbian": "абвгдежзиклмнопрстуфхцчшђјљњћџ",
    "Serbian (Latin)": "ćčđšž",
    "Slovak": "áäéíóôúýčďĺľňŕšťž",
    "Slovenian": "čšž",
    "Spanish": "áéíñóúü",
    "Swahili": "",
    "Swedish": "àäåéö",
    "Turkish": "çöüğışİ",
    "Ukrainian": "абвгдежзийклмнопрстуфхцчшщьюяєіїґ",
    "Vietnamese": "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
    "Welsh": "àáâäèéêëìíîïòóôöùúûüýÿŵŷẁẃẅỳ",
    "Zulu": "",
}
WITHOUT_CASE = {
    "Arabic": "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي",
    "Bengali": "অআইঈউঊঋঌএঐওঔকখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহঽৎৠৡ",
    "Georgian": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
    "Gujarati": "અઆઇઈઉઊઋઍએઐઑઓઔકખગઘઙચછજઝઞટઠડઢણતથદધનપફબભમયરલળવશષસહઽૐૠ",
    "Hebrew": "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "Hindi": "अआइईउऊऋऌऍएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलळवशषसहऽॐ",
    "Marathi": "अआइईउऊऋऌऍएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरऱलळवशषसहऽॐ",
    "Persian": "ءآأؤئابةتثجحخدذرزسشصضطظعغفقلمنهوپچژکگی",
    "Punjabi": "ਅਆਇਈਉਊਏਐਓਔਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵਸਹੜੲੳੴ",
    "Tamil": "ஃஅஆஇஈஉஊஎஏஐஒஓஔகஙசஜஞடணதநனபமயரறலளழவஷஸஹ",
    "Telugu": "అఆఇఈఉఊఋఌఎఏఐఒఓఔకఖగఘఙచఛజఝఞటఠడఢణతథదధనపఫబభమయరఱలళవశషసహౠౡ",
    "Thai": "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮฯะาำเแโใไๅๆ",
    "Urdu": "ءابتثجحخدذرزسشصضطظعغفقلمنوٹپچڈڑژکگھہیے",
}
LATIN = "abcdefghijklmnopqrstuvwxyz"
# Greek, Cyrillic and Armenian, whose alphabets do not include A to Z.
FIRST_NOT_LATIN, LAST_NOT_LATIN = "\u0370", "\u058f"


def languages_of(characters: Container[str]) -> list[str]:
    """Return the names of the languages of which these characters hold every letter, in both cases where the script has two."""
    alphabets = {name: _with_capitals(letters) for name, letters in WITH_CASE.items()} | WITHOUT_CASE
    return sorted(name for name, letters in alphabets.items() if all(letter in characters for letter in letters))


def _with_capitals(letters: str) -> str:
    alphabet = letters if FIRST_NOT_LATIN <= letters[:1] <= LAST_NOT_LATIN else LATIN + letters
    # The capital of a few letters, such as ß, is two letters.
    return alphabet + "".join(capital for letter in alphabet if len(capital := letter.upper()) == 1)

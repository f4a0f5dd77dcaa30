//! Words for what is done: by them a request and the tool that would carry it out are told to fit each other.
//!
//! A table, for contributors to add to: a family is a kind of act; its `tools` are verbs in names of tools that do
//! it, its `words` are how people ask for it. A word may be in several families. Marks on letters, case and
//! look-alikes make no difference; only whole words count. Add no word because one attack uses it: the families
//! are for acts, not for texts.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::parting::words_of;

/// A set of families, one bit each.
pub(super) type Families = u16;

struct Family {
    /// Verbs in names of tools.
    tools: &'static str,
    /// Words in requests.
    words: &'static str,
}

const FAMILIES: [Family; 11] = [
    Family {
        tools: "create add make schedule write append insert put save",
        words: "create add make schedule put write set insert append save \
                erstelle erstellen anlegen schreibe creer cree ajoute ajoutez ajouter crear crea anade создай добавь",
    },
    Family {
        tools: "delete remove cancel erase drop purge clear destroy trash kick ban revoke unshare",
        words: "delete remove cancel erase drop purge clear destroy trash wipe kick ban revoke discard \
                losche loschen entferne entfernen supprime supprimez supprimer efface elimina eliminar borra borrar \
                удали удалить сотри отмени",
    },
    Family {
        tools: "invite add onboard",
        words: "invite add onboard enroll lade einladen invitez inviter invita invitar пригласи пригласить",
    },
    Family {
        tools: "pay transfer wire refund deposit withdraw purchase buy donate remit",
        words: "pay transfer wire refund deposit withdraw purchase buy donate remit send \
                uberweise uberweisen bezahle bezahlen zahle paie payez payer transfere transferez virer paga pagar \
                transfiere transferir оплати оплатить переведи перевести заплати",
    },
    Family {
        tools: "post publish upload put submit",
        words: "post publish upload put submit share write veroffentliche poste hochladen publie publiez publier \
                publica publicar sube опубликуй опубликовать загрузи",
    },
    Family {
        tools: "reserve book",
        words: "reserve book make reserviere reservieren buche buchen reservez reserver reserva reservar \
                забронируй забронировать закажи",
    },
    Family {
        tools: "run execute call invoke exec start launch install",
        words: "run execute call invoke start launch install fuhre ausfuhren execute executez executer ejecuta \
                ejecutar запусти запустить выполни",
    },
    Family {
        tools: "send email mail message forward reply notify dm tell contact text",
        words: "send email mail message forward reply notify dm tell inform contact text write dispatch deliver respond \
                sende senden schicke schicken weiterleiten envoie envoyez envoyer transmets envia enviar manda \
                отправь отправить перешли пошли",
    },
    Family {
        tools: "share grant allow permit",
        words: "share grant give allow send teile teilen freigeben partage partagez partager comparte compartir \
                поделись предоставь",
    },
    Family {
        tools: "update change modify edit set reset reschedule move rename replace patch",
        words: "update change modify edit set reset reschedule move rename replace alter adjust andere andern \
                aktualisiere ersetze change changez changer modifie modifiez modifier cambia cambiar actualiza \
                измени изменить обнови замени",
    },
    Family {
        tools: "get fetch open visit browse navigate load download read crawl",
        words: "visit open go browse navigate follow load fetch read check click access view besuche besuchen offne \
                offnen visite visitez visiter ouvre ouvrez ouvrir abre abrir visita visitar открой посети зайди",
    },
];

/// What a tool handles, where its verb says too little: to send money is to pay.
const OBJECTS: [(&str, &str); 11] = [
    ("booking", "reserve"),
    ("email", "send"),
    ("funds", "pay"),
    ("invoice", "pay"),
    ("mail", "send"),
    ("message", "send"),
    ("money", "pay"),
    ("payment", "pay"),
    ("reservation", "reserve"),
    ("transaction", "pay"),
    ("transfer", "pay"),
];

/// Verbs of tools that only read.
const READS: &str = "get read list search find view show check look lookup query describe count fetch browse \
                     retrieve inspect display print explain summarize status stat head tail cat ls grep open visit \
                     navigate load download crawl track compare verify validate preview";
/// Verbs that act and are no noun in names like `search_emails`, `get_post`: they tell that a name which begins
/// as if it only read does more.
const ACTS: &str = "delete remove cancel erase drop purge destroy revoke send pay wire withdraw buy donate remit \
                    write append insert create publish upload submit execute invoke exec install update modify \
                    rename replace grant reserve invite";

/// What a word does to the verb beside it, one bit each. Few languages; what a text asks in others is found by the
/// detector alone.
pub(super) mod mark {
    pub(in super::super) const LEAD: u16 = 1;
    pub(in super::super) const DUTY: u16 = 1 << 1;
    pub(in super::super) const DETERMINER: u16 = 1 << 2;
    pub(in super::super) const NOUN_BEFORE: u16 = 1 << 3;
    pub(in super::super) const PLEASE: u16 = 1 << 4;
    pub(in super::super) const CAN: u16 = 1 << 5;
    pub(in super::super) const YOU: u16 = 1 << 6;
    pub(in super::super) const MUST: u16 = 1 << 7;
    pub(in super::super) const HAVE: u16 = 1 << 8;
    pub(in super::super) const WANT: u16 = 1 << 9;
    pub(in super::super) const TO: u16 = 1 << 10;
    pub(in super::super) const MODAL: u16 = 1 << 11;
    pub(in super::super) const BE: u16 = 1 << 12;
    pub(in super::super) const STEP: u16 = 1 << 13;
}

/// By [`mark`].
const MARKS: [(u16, &str); 14] = [
    // A verb after it gives an order.
    (
        mark::LEAD,
        "please kindly pls must should then first also now do and you immediately lastly finally next urgently todo \
         just bitte dann jetzt auch zuerst veuillez puis ensuite maintenant aussi favor luego ahora tambien primero \
         пожалуйста затем сейчас также потом",
    ),
    // `you need to …`: a verb after it and `to` gives an order.
    (mark::DUTY, "need needs have has you sure remember want ought"),
    // After a comma a verb gives an order only with something to do it to: lists are full of `…, email, …`.
    (
        mark::DETERMINER,
        "the a an this that these those it them all every each any my your our his her their me us everyone some \
         both one new der die das den alle mein dein le la les un une mon ton el los las mi tu",
    ),
    // The verb before it is a noun: `transfer of`, `order status`.
    (mark::NOUN_BEFORE, "of from is was has had at were are been status date time method history"),
    (mark::PLEASE, "please kindly pls bitte veuillez пожалуйста"),
    (mark::CAN, "can could would will"),
    (mark::YOU, "you"),
    (mark::MUST, "must should"),
    (mark::HAVE, "need have"),
    (mark::WANT, "need want"),
    (mark::TO, "to"),
    // What follows is not done yet.
    (mark::MODAL, "must should shall will would can could may might"),
    (mark::BE, "be"),
    // What is named after it is a thing to do.
    (
        mark::STEP,
        "by step steps and then or start consider recommend suggest try requires involves means includes",
    ),
];

/// What a word is to a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Class {
    /// What it asks for.
    pub(super) families: Families,
    /// What is said to be done by it: `sent`.
    pub(super) done: Families,
    /// What is named by it: `sending`.
    pub(super) doing: Families,
    marks: u16,
}

impl Class {
    /// The class of a word as [`words_of`] gives it.
    pub(super) fn of(word: &str) -> Class {
        CLASSES.get(word).copied().unwrap_or_default()
    }

    /// Whether a request may begin with it, or be told by it.
    pub(super) fn may_ask(self) -> bool {
        const BEGIN: u16 = mark::PLEASE | mark::CAN | mark::YOU | mark::WANT;
        self.families | self.done | self.doing != 0 || self.is(BEGIN)
    }

    pub(super) fn is(self, mark: u16) -> bool {
        self.marks & mark != 0
    }
}

static CLASSES: LazyLock<HashMap<String, Class>> = LazyLock::new(|| {
    let mut classes: HashMap<String, Class> = HashMap::new();
    for (bit, family) in FAMILIES.iter().enumerate() {
        for word in words_of(family.words) {
            for form in inflected(&word, "ing") {
                classes.entry(form).or_default().doing |= 1 << bit;
            }
            for form in inflected(&word, "ed") {
                classes.entry(form).or_default().done |= 1 << bit;
            }
            classes.entry(word).or_default().families |= 1 << bit;
        }
    }
    for (mark, words) in MARKS {
        for word in words_of(words) {
            classes.entry(word).or_default().marks |= mark;
        }
    }
    classes
});

/// A word with an English ending. Some of these nobody writes; they do no harm.
fn inflected(word: &str, ending: &str) -> Vec<String> {
    const IRREGULAR: [(&str, &str); 11] = [
        ("buy", "bought"),
        ("give", "given"),
        ("make", "made"),
        ("pay", "paid"),
        ("put", "put"),
        ("run", "run"),
        ("send", "sent"),
        ("set", "set"),
        ("tell", "told"),
        ("withdraw", "withdrawn"),
        ("write", "written"),
    ];
    let bare = word.strip_suffix('e').unwrap_or(word);
    let mut forms = vec![format!("{bare}{ending}")];
    forms.extend(word.chars().next_back().map(|last| format!("{word}{last}{ending}")));
    if ending == "ed" {
        forms.extend(word.strip_suffix('y').map(|stem| format!("{stem}ied")));
        forms.extend(IRREGULAR.iter().filter(|(base, _)| *base == word).map(|(_, done)| (*done).to_owned()));
    }
    forms
}

static TOOLS: LazyLock<HashMap<String, Families>> = LazyLock::new(|| {
    let mut tools: HashMap<String, Families> = HashMap::new();
    for (bit, family) in FAMILIES.iter().enumerate() {
        for word in family.tools.split_whitespace() {
            *tools.entry(word.to_owned()).or_default() |= 1 << bit;
        }
    }
    tools
});

/// What a tool does, by its name. A server that names its tools falsely is not what this is about: it needs no
/// text of others to do harm.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    pub(super) families: Families,
    /// The word that says what is done; empty when none is known.
    pub(super) verb: String,
    /// What it is done to: the other words, singular.
    pub(super) nouns: Vec<String>,
    /// All words of the name.
    pub(super) words: Vec<String>,
}

impl Deed {
    pub(super) fn of(tool: &str) -> Deed {
        /// Says nothing of what a tool handles.
        const EMPTY: [&str; 7] = ["and", "for", "from", "into", "the", "tool", "with"];
        let words = name_words(tool);
        let known = |word: &&String| TOOLS.contains_key(word.as_str());
        let verb = words.iter().find(known).cloned().unwrap_or_default();
        let mut families = TOOLS.get(&verb).copied().unwrap_or_default();
        let sends = TOOLS.get("send").copied().unwrap_or_default();
        if families & sends != 0 {
            let more = |word: &String| {
                OBJECTS.iter().find(|(object, _)| object == word).and_then(|of| TOOLS.get(of.1))
            };
            families = words.iter().filter_map(more).fold(families, |families, more| families | more);
        }
        let is_noun = |word: &&String| **word != verb && word.len() > 2 && !EMPTY.contains(&word.as_str());
        let nouns = words.iter().filter(is_noun).map(|word| stem(word).to_owned()).collect();
        Deed { families, verb, nouns, words }
    }
}

/// Whether a tool only reads, by its name: its first verb reads, and no other one acts.
pub(super) fn only_reads(tool: &str) -> bool {
    let is_in = |words: &str, word: &str| words.split_whitespace().any(|other| other == word);
    let words = name_words(tool);
    let verb = words.iter().find(|word| is_in(READS, word) || TOOLS.contains_key(word.as_str()));
    verb.is_some_and(|verb| is_in(READS, verb)) && !words.iter().any(|word| is_in(ACTS, word))
}

/// The first verb of a tool's name: one of those here, one that only reads, or one that the caller knows.
pub(crate) fn verb(tool: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    let reads = |word: &str| READS.split_whitespace().any(|other| other == word);
    name_words(tool)
        .into_iter()
        .find(|word| TOOLS.contains_key(word.as_str()) || reads(word) || is_known(word))
}

/// The words of a name like `send_money`, `sendMoney`, `GmailSendEmail`, `FHIRDownload`.
fn name_words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().take(NAME_CHARS_MAX).collect();
    let mut parted = String::new();
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(at + 1);
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins || before.is_some_and(|before| before.is_ascii_digit() != character.is_ascii_digit()) {
            parted.push(' ');
        }
        parted.push(*character);
    }
    words_of(&parted)
}

/// Longer names of tools are cut.
const NAME_CHARS_MAX: usize = 256;

/// English endings off: enough to know `events` from `event`.
pub(super) fn stem(word: &str) -> &str {
    let endings = ["ing", "ies", "es", "s", "ed"].iter();
    let mut stems = endings.filter_map(|ending| word.strip_suffix(ending));
    stems.find(|stem| stem.len() > 2).unwrap_or(word)
}

/// The words that have this stem.
pub(super) fn forms(stem: &str) -> [String; 7] {
    ["", "s", "es", "ed", "ing", "e", "ies"].map(|ending| format!("{stem}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::{Class, Deed, FAMILIES, OBJECTS, TOOLS, forms, name_words, only_reads, stem};

    #[test]
    fn names_are_parted_as_people_read_them() {
        assert_eq!(name_words("send_money"), ["send", "money"]);
        assert_eq!(name_words("GmailSendEmail"), ["gmail", "send", "email"]);
        assert_eq!(name_words("EpicFHIRDownloadFiles"), ["epic", "fhir", "download", "files"]);
        assert_eq!(name_words("get2fa-code.v1"), ["get", "2", "fa", "code", "v", "1"]);
        assert_eq!(name_words(&"a".repeat(300)).first().unwrap().len(), 256);
    }

    #[test]
    fn tables_are_sound() {
        for (object, verb) in OBJECTS {
            assert!(TOOLS.contains_key(verb), "{object}: `{verb}` is in no family");
        }
        for family in &FAMILIES {
            for word in family.words.split_whitespace() {
                let folded = super::words_of(word);
                assert_eq!(folded.len(), 1, "`{word}` is not one word");
                assert_ne!(Class::of(folded.first().unwrap()).families, 0, "{word}");
            }
        }
    }

    #[test]
    fn a_deed_is_what_the_name_says() {
        let money = Deed::of("send_money");
        let mail = Deed::of("send_email");
        assert_ne!(money.families, mail.families);
        assert_ne!(money.families & Class::of("transfer").families, 0);
        assert_eq!((mail.verb.as_str(), mail.nouns.as_slice()), ("send", &["email".to_owned()][..]));
        assert_eq!(Deed::of("frobnicate").families, 0);
    }

    #[test]
    fn only_names_that_read_and_do_nothing_else_read() {
        for reads in
            ["get_emails", "search_emails", "read_file", "GmailSearchEmails", "list_transfers", "get_webpage"]
        {
            assert!(only_reads(reads), "{reads}");
        }
        for acts in
            ["send_email", "get_and_delete", "email_list", "frobnicate", "", "run_query", "readAndSend"]
        {
            assert!(!only_reads(acts), "{acts}");
        }
    }

    #[test]
    fn stems_and_forms_meet() {
        for word in ["event", "events", "file", "files", "boxes", "entries"] {
            assert!(forms(stem(word)).contains(&word.to_owned()), "{word}");
        }
        assert_eq!(stem("is"), "is");
    }
}

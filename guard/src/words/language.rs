//! The tables, one language a file.
//!
//! Entries are patterns over folded text (small letters, straight quotes); a blank is any run of white space, and
//! an entry begins and ends at a border of a word. To add a language, add a file and a line to [`ALL`]; what is
//! consent must be consent to every reader of that language, however little of the message they saw.

mod de;
mod en;
mod es;
mod fr;
mod ru;

/// All languages. A message is read with the words of all: it may mix them.
pub(super) const ALL: &[&Language] = &[&de::DE, &en::EN, &es::ES, &fr::FR, &ru::RU];

/// The words of one language.
pub(super) struct Language {
    /// A clear yes.
    pub(super) yes: &'static [&'static str],
    /// A clear yes that tells the assistant to act: it also counts in `could you please …`.
    pub(super) act: &'static [&'static str],
    /// Acts on what stands before it, thus only after one of these, at a start or after punctuation.
    pub(super) act_after: (&'static [&'static str], &'static [&'static str]),
    /// A yes only if nothing else is said, beside what is polite.
    pub(super) weak: &'static [&'static str],
    /// May stand before a weak yes.
    pub(super) hesitation: &'static [&'static str],
    /// May follow a weak yes.
    pub(super) courtesy: &'static [&'static str],
    /// A denial, a refusal, a condition, a doubt. In the sentence of a yes, or after it: it is none.
    pub(super) not: &'static [&'static str],
    /// Words of `not` that say what a tool does, by the verb in the tools' names: to one that cancels, `yes, cancel
    /// it` is a yes.
    pub(super) deeds: &'static [(&'static str, &'static [&'static str])],
    /// Holds a word of `not` or `reservation`, but denies nothing: `no problem`.
    pub(super) harmless: &'static [&'static str],
    /// In the sentence of a yes, or at the start of a later one: it is none.
    pub(super) reservation: &'static [&'static str],
    /// Right after a yes: not now.
    pub(super) later: &'static [&'static str],
    /// A message that begins so is no yes.
    pub(super) refusal: &'static [&'static str],
    /// A message with one of these, anywhere, is no yes.
    pub(super) retraction: &'static [&'static str],
    /// The same at a start, after punctuation, and after one of the second.
    pub(super) second_thought: (&'static [&'static str], &'static [&'static str]),
    /// As a clause of its own after a yes, it takes the yes back.
    pub(super) no: &'static [&'static str],
    /// Joins such a clause.
    pub(super) and: &'static [&'static str],
    /// A sentence that begins so is a question, whatever it ends with.
    pub(super) question: &'static [&'static str],
    /// Between such a beginning and an `act`: a wish. (`could you` … `please`)
    pub(super) wish: &'static [&'static str],
    /// Words for 0, 1, 2 and so on; none where the word is said of everything.
    pub(super) counts: &'static [&'static [&'static str]],
    /// Names of the months.
    pub(super) months: &'static [&'static [&'static str]],
    /// How dates are written: `Y` the year, `M` the month's name, `D` the day.
    pub(super) dates: &'static [&'static str],
    /// A sentence with one of these asks for nothing, whatever it names.
    pub(super) unasked: &'static [&'static str],
    /// Nor does one that begins so: it asks about it.
    pub(super) about: &'static [&'static str],
    /// Right before what is named: it is told, not asked for. (`I already` … `paid`)
    pub(super) told: &'static [&'static str],
    /// What a person asks for, by the names of [`super::Intent::NAMES`].
    pub(super) intents: &'static [(&'static str, &'static [&'static str])],
}

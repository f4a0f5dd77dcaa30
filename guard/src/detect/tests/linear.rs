//! The work is linear in the text, counted where the bytes are looked at and not where the budget is spent.

use super::super::assert::{SLOPE_MAX, slope};

/// Texts in which every step leads nowhere.
pub(super) const WORST: [&str; 54] = [
    "%41%00",
    "%41%c3",
    "*",
    ". ",
    "\n\n",
    "_",
    "a-",
    ":",
    "<",
    "&a",
    "%41",
    "%80",
    "%00",
    "%e2%80",
    "%",
    "=41=",
    "\\u",
    "\\n",
    "*a",
    "**a",
    "a*",
    "a b ",
    "a.b.",
    "system:",
    "ignore ",
    "please ",
    "\"ignore ",
    "ignore the ",
    "can ignore instructions ",
    "send the ",
    "= ",
    "\u{202e}",
    "\u{202e}a\n",
    "\u{fe0f}",
    "\u{e0041}",
    "а",
    "e\u{301}",
    "\u{fdf2}",
    "7h3 ",
    "gur ",
    "aWdub3Jl",
    "aWdub3JlIGFsbCBwcmV2aW91cw\n",
    "49 ",
    "4967 ",
    "01001001 ",
    "[INST",
    "<!--",
    "a<",
    "a</",
    "<a ",
    "。",
    "忽略",
    "以前の",
    "&#105;",
];

#[test]
fn twice_the_text_is_at_most_twice_the_work() {
    let mut worst = (0, "");
    for piece in WORST {
        let slope = slope(piece);
        assert!(slope <= SLOPE_MAX, "{piece:?}: {slope} bytes for each byte more");
        worst = worst.max((slope, piece));
    }
    // A counter that nobody moves would pass.
    assert!(worst.0 >= 10, "{worst:?}");
    assert!(slope("The meeting went well and lunch was good. ") >= 1);
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    super::each_of_corpus("detect", 20, super::super::fuzz);
}

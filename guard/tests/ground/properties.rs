//! What must hold for any text and any value.

use framegate_guard::ground::{Locale, Match, Matcher, Prepared, Sought};
use framegate_guard::json::{Document, Limits};
use proptest::prelude::*;

use super::twin;

fn matchers() -> impl Strategy<Value = Matcher> {
    let how: Vec<Match> = Match::names().map(|name| name.parse().unwrap()).collect();
    let locale: Vec<Option<Locale>> = Locale::names().map(|name| name.parse().ok()).chain([None]).collect();
    (prop::sample::select(how), prop::sample::select(locale))
        .prop_map(|(how, locale)| Matcher { how, locale })
}

/// Pieces that rules tell apart, so that they meet often.
const PIECES: &[&str] = &[
    "a",
    "A",
    "ann",
    "Ann",
    "b",
    "Z9",
    "7",
    "77",
    "1",
    "1,250",
    "1.250",
    "250",
    "000",
    "1'250",
    "0.5",
    "-7",
    "00",
    " ",
    " ",
    "  ",
    "\u{a0}",
    "\u{2009}",
    "\n",
    ".",
    ",",
    "-",
    "/",
    ":",
    "@",
    "_",
    "#",
    "'",
    "\"",
    "’",
    "“",
    "–",
    "(",
    ")",
    "%",
    "°",
    "\u{200b}",
    "\u{ad}",
    "\u{301}",
    "é",
    "İ",
    "ß",
    "ẞ",
    "K",
    "я",
    "中",
    "²",
    "٣",
    "１",
    "½",
    "https://",
    "http://",
    "x.io",
    "www.x.io",
    "/p",
    "?q=1",
    "#f",
    "bücher.example",
    "。",
    "url=",
    "…",
    "«",
    "»",
];

fn texts(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), pieces).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Document> {
    let json = prop_oneof![
        3 => texts(1..4).prop_map(|text| serde_json::json!(text).to_string()),
        1 => prop::sample::select(&["7", "77", "1250", "1.25", "-7", "0", "0.5", "250", "1e3", "true", "0.0", "-0"][..])
            .prop_map(str::to_owned),
    ];
    json.prop_map(|json| Document::read(json.into(), &Limits::default()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn finds_what_the_twin_finds(matcher in matchers(), text in texts(0..14), value in values()) {
        let found = Prepared::new(&text).find(&matcher, value.root());
        prop_assert_eq!(&found, &twin::find(&matcher, &text, value.root()), "{:?} in {:?}", value.root(), text);
        prop_assert_eq!(!found.is_empty(), Prepared::new(&text).names(&matcher, value.root()));
    }

    #[test]
    fn a_span_is_in_the_text_and_names_the_value_by_itself(
        matcher in matchers(), text in texts(0..14), value in values(),
    ) {
        let mut last = 0;
        for span in Prepared::new(&text).find(&matcher, value.root()) {
            let quote = text.get(span.clone()).expect("on borders of characters");
            prop_assert!(span.start >= last && !quote.is_empty());
            last = span.start;
            prop_assert!(Prepared::new(quote).names(&matcher, value.root()), "{quote:?} {:?}", value.root());
        }
    }

    #[test]
    fn what_was_found_stays_found_when_clean_text_comes(
        matcher in matchers(), text in texts(0..14), value in values(), more in "[a-z]{2,5}( [a-z]{2,5}){0,3}",
    ) {
        let found = Prepared::new(&text).find(&matcher, value.root());
        let longer = format!("{more} \n{text}\n {more}");
        let shifted: Vec<_> =
            found.iter().map(|span| span.start + more.len() + 2..span.end + more.len() + 2).collect();
        let now = Prepared::new(&longer).find(&matcher, value.root());
        prop_assert!(shifted.iter().all(|span| now.contains(span)), "{shifted:?} {now:?}");
    }

    #[test]
    fn what_shows_nothing_hides_nothing(matcher in matchers(), text in texts(1..10), value in values()) {
        let hidden: String = text.chars().flat_map(|c| [c, '\u{200b}']).collect();
        let count = |text: &str| Prepared::new(text).find(&matcher, value.root()).len();
        prop_assert_eq!(count(&hidden), count(&text));
    }
}

/// Pieces of addresses.
const ADDRESS: &[&str] = &[
    "http://",
    "https://",
    "HTTPS://",
    "//",
    "www.",
    "x",
    "io",
    ".",
    "..",
    "/",
    "%2e",
    "?",
    "#",
    ":",
    "80",
    "443",
    "8080",
    "@",
    "\\",
    "é",
    "ß",
    "。",
    "．",
    "[::1]",
    "1.2.3.4",
    "0x7f",
    "-",
    "_",
    "\n",
    "a",
    "B",
    " ",
    "\u{200b}",
    "xn--",
    "localhost",
    "q=1",
    "=",
    "\u{ff0f}",
    "K",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn addresses_hold_what_the_fuzzer_asserts(
        pieces in prop::collection::vec(prop::sample::select(ADDRESS), 1..10),
        other in prop::collection::vec(prop::sample::select(ADDRESS), 1..10),
        pick: u8,
    ) {
        let (one, other) = (pieces.concat(), other.concat());
        framegate_guard::link::fuzz(format!("{one}\n{other}").as_bytes());
        framegate_guard::link::fuzz(format!("{one}\n{one}/{other}").as_bytes());
        let bytes = [&[pick], format!("{one}\n see {other} and url={one}, {one}/{other}").as_bytes()].concat();
        framegate_guard::ground::fuzz(&bytes);
    }
}

/// Found by a run with luck: for `##` the sign alone was looked for too, and both began at one place.
#[test]
fn an_id_of_signs_alone_is_found_once_at_a_place() {
    for value in ["##", "###", "##1", "#1", "#"] {
        for text in ["##", "url=##, ##/http://", "### ## #", "##1 #1 1", "a #### b"] {
            let (matcher, text) = (Matcher { how: Match::Id, locale: None }, Prepared::new(text));
            let found = Sought::text(&matcher, value).find_in(&text);
            assert!(
                found.windows(2).all(|pair| pair[0].start < pair[1].start),
                "{value} in {text:?}: {found:?}"
            );
            assert!(found.iter().all(|at| at.len() >= value.len() - 1));
        }
    }
    let one = Sought::text(&Matcher { how: Match::Id, locale: None }, "##");
    assert!(!one.is_in(&Prepared::new("#")) && one.is_in(&Prepared::new("##")));
    framegate_guard::ground::fuzz(b"\xa4##\n see http:// and url=##, ##/http://");
}

#[test]
fn hostile_texts_take_linear_time() {
    // Each would take minutes if a place cost more than a look at its surroundings.
    let long = |piece: &str| piece.repeat(60_000 / piece.len());
    let texts = [
        "a",
        "7",
        "7 ",
        "7'",
        "777'",
        "1,250,",
        "777 ",
        "ann/",
        "(ann/",
        "a-",
        "-",
        "#",
        "ann ",
        "/",
        "((((",
        "x.io",
        "x.io ",
        "x.io/",
        "a.",
        "。",
        "中。",
        "bücher.example ",
        "٣",
        "\u{200b}",
        "\u{301}",
        "url=",
        "'777",
    ];
    let values =
        ["\"a\"", "\"ann\"", "\"7\"", "\"7 7\"", "777", "7.5", "\"https://x.io/p\"", "\"bücher.example\""];
    for text in texts {
        let text = Prepared::from(long(text));
        for value in values {
            let value = Document::read(value.into(), &Limits::default()).unwrap();
            for how in Match::names() {
                let _ =
                    Sought::new(&Matcher::from(how.parse::<Match>().unwrap()), value.root()).find_in(&text);
            }
        }
    }
}

#[test]
fn an_address_at_the_limit_is_read() {
    use framegate_guard::link::{HOST_BYTES_MAX, URL_BYTES_MAX};
    let found = |text: &str, value: &str| {
        let value = Document::read(serde_json::json!(value).to_string().into(), &Limits::default()).unwrap();
        Prepared::new(text).find(&Matcher::from(Match::UrlPrefix), value.root()).len()
    };
    for (length, expected) in [(URL_BYTES_MAX - 1, 1), (URL_BYTES_MAX, 1), (URL_BYTES_MAX + 1, 0)] {
        let url = format!("x.io/{}", "p".repeat(length - 5));
        assert_eq!(found(&url, &url), expected, "{length}");
    }
    // Variation selectors vanish from a host, so a long one may be a short name.
    for (length, expected) in [(HOST_BYTES_MAX - 1, 1), (HOST_BYTES_MAX, 1), (HOST_BYTES_MAX + 1, 0)] {
        let odd = format!("{}x.io", "\u{fe0f}".repeat((length - 4) / 3));
        let odd = format!("{}{odd}", "a".repeat(length - odd.len()));
        let plain = odd.replace('\u{fe0f}', "");
        assert_eq!(odd.len(), length);
        assert_eq!(found(&odd, &plain), expected, "{length}");
    }
}

#[test]
fn a_number_at_the_limit_is_read() {
    let found = |value: String, text: String| {
        let limits = Limits { number_exponent: 20_000, ..Limits::default() };
        let value = Document::read(value.into(), &limits).unwrap();
        Prepared::new(&text).find(&Matcher::default(), value.root()).len()
    };
    for (places, expected) in [(10_999, 1), (11_000, 1), (11_001, 0)] {
        let zeros = "0".repeat(places - 1);
        assert_eq!(found(format!("1e{}", places - 1), format!("1{zeros}")), expected, "{places}");
        assert_eq!(found(format!("1e-{}", places + 1), format!("0.0{zeros}1")), expected, "{places}");
    }
}

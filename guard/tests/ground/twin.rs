//! The naive twin: the same rules written for one code point at a time, trying every place of the text.

use std::ops::Range;

use framegate_guard::ground::{Locale, Match, Matcher, same_url};
use framegate_guard::json::{Kind, Value};
use regex::Regex;

/// One code point as a matcher reads it, and where it came from.
#[derive(Clone)]
struct Seen {
    c: char,
    at: usize,
    end: usize,
}

/// All places of a value in a text, in bytes of the text.
pub fn find(matcher: &Matcher, text: &str, value: Value<'_>) -> Vec<Range<usize>> {
    let url = matches!(matcher.how, Match::Url | Match::UrlPrefix);
    let folded = matches!(matcher.how, Match::Nocase | Match::Id | Match::Grouped);
    match value.kind() {
        Kind::String if url => urls(text, value.as_str().unwrap(), matcher.how == Match::UrlPrefix),
        Kind::Bool if url => Vec::new(),
        Kind::String if matcher.how == Match::Grouped && is_grouped(value.as_str().unwrap()) => {
            groups(&read(text, true), value.as_str().unwrap())
        }
        Kind::String => words(&read(text, folded), value.as_str().unwrap(), matcher.how),
        Kind::Bool => {
            words(&read(text, folded), if value.as_bool().unwrap() { "True" } else { "False" }, matcher.how)
        }
        Kind::Number if !url => numbers(&read(text, false), value.raw(), matcher),
        _ => Vec::new(),
    }
}

fn is_cf(c: char) -> bool {
    class(r"^\p{Cf}$").is_match(c.encode_utf8(&mut [0; 4]))
}

fn class(pattern: &str) -> &'static Regex {
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};
    static PATTERNS: LazyLock<Mutex<HashMap<String, &'static Regex>>> = LazyLock::new(Mutex::default);
    PATTERNS
        .lock()
        .unwrap()
        .entry(pattern.to_owned())
        .or_insert_with(|| Box::leak(Box::new(Regex::new(pattern).unwrap())))
}

fn is(c: char, pattern: &str) -> bool {
    class(pattern).is_match(c.encode_utf8(&mut [0; 4]))
}

fn is_word(c: char) -> bool {
    is(c, r"^[\p{L}\p{N}_]$")
}

fn is_alphanumeric(c: char) -> bool {
    is(c, r"^[\p{L}\p{N}]$")
}

fn is_decimal(c: char) -> bool {
    is(c, r"^\p{Nd}$")
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn fold(c: char) -> char {
    match c {
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' | '－' => '-',
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '“' | '”' | '„' | '‟' | '″' => '"',
        c if c.to_lowercase().count() == 1 => c.to_lowercase().next().unwrap(),
        c => c,
    }
}

fn read(text: &str, folded: bool) -> Vec<Seen> {
    let kept = text.char_indices().filter(|(_, c)| !is_cf(*c));
    kept.map(|(at, c)| {
        let plain = if is(c, r"^\p{Zs}$") { ' ' } else { c };
        Seen { c: if folded { fold(plain) } else { plain }, at, end: at + c.len_utf8() }
    })
    .collect()
}

fn span(text: &[Seen], from: usize, to: usize) -> Range<usize> {
    text[from].at..text[to - 1].end
}

// === groups ===

fn letters(value: &str) -> Vec<char> {
    read(value, true).iter().map(|seen| seen.c).filter(|c| !" -./".contains(*c)).collect()
}

fn is_grouped(value: &str) -> bool {
    let letters = letters(value);
    (6..=64).contains(&letters.len())
        && letters.iter().all(|c| is_alphanumeric(*c))
        && letters.iter().any(|c| is_decimal(*c))
}

/// Every stretch of the text whose letters are those of the value, with single signs between some of them.
fn groups(text: &[Seen], value: &str) -> Vec<Range<usize>> {
    let wanted = letters(value);
    let mut found: Vec<Range<usize>> = Vec::new();
    for from in 0..text.len() {
        for to in from + wanted.len()..=(from + 2 * wanted.len()).min(text.len()) {
            let part: String = text[from..to].iter().map(|seen| seen.c).collect();
            let signs: Vec<bool> = part.chars().map(|c| " -./".contains(c)).collect();
            let is_parted =
                !signs[0] && !signs[signs.len() - 1] && !signs.windows(2).any(|two| two[0] && two[1]);
            let same = part.chars().filter(|c| !" -./".contains(*c)).eq(wanted.iter().copied());
            let outside = |near: Option<char>, beyond: Vec<char>| match near {
                Some(c) if is_word(c) => false,
                Some(c) if " -./".contains(c) && signs.contains(&true) => {
                    !beyond.into_iter().take(64).take_while(|c| is_word(*c)).any(is_decimal)
                }
                _ => true,
            };
            let left = text[..from.saturating_sub(1)].iter().rev().map(|seen| seen.c).collect();
            let right = text.get(to + 1..).unwrap_or_default().iter().map(|seen| seen.c).collect();
            if is_parted
                && same
                && outside(at(text, from.checked_sub(1)), left)
                && outside(at(text, Some(to)), right)
                && found.last().is_none_or(|last| last.end <= text[from].at)
            {
                found.push(span(text, from, to));
            }
        }
    }
    found
}

// === words ===

fn words(text: &[Seen], value: &str, how: Match) -> Vec<Range<usize>> {
    let value: Vec<char> =
        read(value, matches!(how, Match::Nocase | Match::Id | Match::Grouped)).iter().map(|s| s.c).collect();
    if value.iter().all(|c| is_space(*c)) {
        return Vec::new();
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for from in 0..text.len() {
        let numbered = how == Match::Id && value[0] == '#' && value.iter().any(|c| *c != '#');
        for value in [Some(&value[..]), numbered.then(|| &value[1..])].into_iter().flatten() {
            let to = from + value.len();
            let same =
                text.get(from..to).is_some_and(|part| part.iter().map(|s| s.c).eq(value.iter().copied()));
            let span = || span(text, from, to);
            if same
                && stands(text, from, to, value, how)
                && found.last().is_none_or(|last| last.end < span().end)
            {
                found.push(span());
            }
        }
    }
    found
}

fn at(text: &[Seen], place: Option<usize>) -> Option<char> {
    place.and_then(|place| text.get(place)).map(|seen| seen.c)
}

fn stands(text: &[Seen], from: usize, to: usize, value: &[char], how: Match) -> bool {
    let (left, right) = (at(text, from.checked_sub(1)), at(text, Some(to)));
    let (beyond_left, beyond_right) = (at(text, from.checked_sub(2)), at(text, Some(to + 1)));
    if how == Match::Substring {
        return true;
    }
    if how == Match::Whole {
        let surrounds = |c: Option<char>| c.is_none_or(|c| " \t\r\n\"'`()[]{}<>,;:!?".contains(c));
        return surrounds(left)
            && (surrounds(right) || right == Some('.') && beyond_right.is_none_or(is_space));
    }
    if is_word(value[0]) && left.is_some_and(is_word)
        || is_word(*value.last().unwrap()) && right.is_some_and(is_word)
    {
        return false;
    }
    let joined = |joint: Option<char>, beyond: Option<char>| {
        joint.is_some_and(|c| ".@-/:_".contains(c)) && beyond.is_some_and(is_word)
    };
    let pair = |slash: usize| how == Match::Nocase && text[slash].c == '/' && is_pair(text, slash);
    if joined(left, beyond_left) && !pair(from - 1) || joined(right, beyond_right) && !pair(to) {
        return false;
    }
    let digits = value.iter().all(|c| is(*c, r"^(\p{Nd}|[²³¹⁰⁴-⁹₀-₉①-⑨])$"));
    !(digits && is_glued(text, from, to))
}

fn is_glued(text: &[Seen], from: usize, to: usize) -> bool {
    let before: Vec<char> = text[..from].iter().rev().map(|seen| seen.c).collect();
    let after: Vec<char> = text[to..].iter().map(|seen| seen.c).collect();
    [before, after].iter().any(|beside| {
        let joined = beside.first().is_some_and(|c| ".@-/:_".contains(*c));
        let run = beside.iter().skip(1).take_while(|c| is_alphanumeric(**c));
        let grouped = beside.first() == Some(&' ') && run.clone().any(|c| is(*c, r"^[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨]$"));
        joined && run.count() > 0 || grouped
    })
}

fn is_pair(text: &[Seen], slash: usize) -> bool {
    let is_blank = |seen: &Seen| is_space(seen.c);
    let start = text[..slash].iter().rposition(is_blank).map_or(0, |blank| blank + 1);
    let end = text[slash..].iter().position(is_blank).map_or(text.len(), |blank| slash + blank);
    let piece: String = text[start..end].iter().map(|seen| seen.c).collect();
    class(concat!(
        "^[\"'`()\\[\\]{}<>,;:!?]*",
        r"\p{L}+(-+\p{L}+)*/\p{L}+(-+\p{L}+)*",
        "[\"'`()\\[\\]{}<>,;:!?]*\\.?[\"'`()\\[\\]{}<>,;:!?]*$"
    ))
    .is_match(&piece)
}

// === numbers ===

fn numbers(text: &[Seen], value: &str, matcher: &Matcher) -> Vec<Range<usize>> {
    let (group, decimal) = match matcher.locale {
        None | Some(Locale::En) => (",'", "."),
        Some(Locale::De) => (".'", ","),
        Some(Locale::Fr) => ("'", ","),
        Some(Locale::Ch) => ("'", "."),
    };
    let space = if matcher.how == Match::Spaced { " " } else { "" };
    let grouped = format!(r"^\p{{Nd}}{{1,3}}([{group}{space}]\p{{Nd}}{{3}})+([{decimal}]\p{{Nd}}+)?$");
    let plain = format!(r"^\p{{Nd}}+([{decimal}]\p{{Nd}}+)?$");
    let wanted = exact(value);
    let mut found = Vec::new();
    let mut from = 0;
    'text: while from < text.len() {
        let signed = usize::from(text[from].c == '-');
        let free = at(text, from.checked_sub(1)).is_none_or(|c| !is_word(c) && c != '.' && c != ',');
        if free && at(text, Some(from + signed)).is_some_and(is_decimal) {
            for pattern in [&grouped, &plain] {
                for to in (from + signed + 1..=text.len()).rev() {
                    let written: String = text[from + signed..to].iter().map(|seen| seen.c).collect();
                    if !class(pattern).is_match(&written) || !may_end(text, to) {
                        continue;
                    }
                    let either = class(r"^\p{Nd}{1,3}[.,]\p{Nd}{3}$").is_match(&written)
                        && !class(r"^[0٠]").is_match(&written)
                        && matcher.locale.is_none();
                    let sign = if signed == 1 { "-" } else { "" };
                    if exact(&format!("{sign}{}", as_json(&written, decimal))) == wanted
                        && !either
                        && !is_glued(text, from, to)
                    {
                        found.push(span(text, from, to));
                    }
                    from = to;
                    continue 'text;
                }
            }
        }
        from += 1;
    }
    found
}

fn may_end(text: &[Seen], to: usize) -> bool {
    match at(text, Some(to)) {
        Some('.' | ',') => !at(text, Some(to + 1)).is_some_and(is_decimal),
        right => !right.is_some_and(|c| is_word(c) || "%‰°".contains(c)),
    }
}

fn as_json(written: &str, decimal: &str) -> String {
    let (whole, fraction) = written.split_once(decimal).unwrap_or((written, ""));
    let digits = |part: &str| {
        let digits = part.chars().filter(|c| is_decimal(*c));
        digits.map(|c| if c.is_ascii() { c } else { ascii(c) }).collect::<String>()
    };
    format!("{}.{}", digits(whole), digits(fraction))
}

/// The digit zero of a script is the last character below with a digit's class whose neighbour has none.
fn ascii(c: char) -> char {
    let zero = (0..10).find(|n| !is_decimal(char::from_u32(c as u32 - n - 1).unwrap())).unwrap();
    char::from_digit(zero, 10).unwrap()
}

/// Sign, digits without zeros at both ends, and where the point stands.
fn exact(json: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let bare = digits.trim_start_matches('0');
    let point = whole.len() as i64 - (digits.len() - bare.len()) as i64 + exponent.parse::<i64>().unwrap();
    match bare.trim_end_matches('0') {
        "" => (false, String::new(), 0),
        bare => (json.starts_with('-'), bare.to_owned(), point),
    }
}

// === addresses ===

fn urls(text: &str, value: &str, prefix: bool) -> Vec<Range<usize>> {
    let text = read(text, false);
    let parts = |seen: &Seen| is_space(seen.c) || "\"'`()[]<>{}|\\^,;“”„‟‘’‚‛«»‹›".contains(seen.c);
    let mut found = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let to = text[from..].iter().position(parts).map_or(text.len(), |end| from + end);
        let mut end = to;
        while end > from && ".:!?".contains(text[end - 1].c) {
            end -= 1;
        }
        let written: String = text[from..end].iter().map(|seen| seen.c).collect();
        let label = class(r"^\p{L}[\p{L}\p{N}_-]{0,19}[:=]").find(&written);
        let label = label.map(|label| label.as_str().chars().count());
        for skip in [Some(0), label].into_iter().flatten() {
            let written: String = text[from + skip..end].iter().map(|seen| seen.c).collect();
            if same_url(value, &written, prefix) {
                found.push(span(&text, from + skip, end));
                break;
            }
        }
        from = to + 1;
    }
    found
}

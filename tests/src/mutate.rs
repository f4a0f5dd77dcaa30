//! Frames that two readers may read differently, made at random from a seed: valid calls in odd spellings,
//! odd members beside the usual ones, and damaged bytes.

/// A sequence of numbers that a seed decides (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn is_one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The two ways in which calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// After a handshake (up to 2025-11-25).
    Legacy,
    /// With an envelope in each request (2026-07-28).
    Modern,
}

/// What a request of the modern era carries in `params._meta`.
pub const MODERN_META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// One line with its end, most of the time a call of a tool. `serial` makes it unlike the others.
pub fn frame(dice: &mut Dice, era: Era, serial: usize) -> Vec<u8> {
    let mut members = vec![
        (spelled(dice, "jsonrpc"), version(dice).to_owned()),
        (spelled(dice, "id"), id(dice, serial)),
        (spelled(dice, "method"), method(dice)),
        (spelled(dice, "params"), params(dice, era, serial)),
    ];
    if dice.is_one_in(8) {
        members.push(odd_member(dice, serial));
    }
    if dice.is_one_in(60) {
        members.remove(dice.below(members.len()));
    }
    let mut line = object(dice, members).into_bytes();
    if dice.is_one_in(5) {
        for _ in 0..=dice.below(3) {
            damage(dice, &mut line);
        }
    }
    if dice.is_one_in(40) {
        let again = line.clone();
        line.extend_from_slice(dice.pick(&["", " ", "\r", "\u{2028}", "\t"]).as_bytes());
        line.extend(again);
    }
    line.extend_from_slice(end(dice).as_bytes());
    line
}

fn end(dice: &mut Dice) -> &'static str {
    match dice.below(30) {
        0 => "\r\r\n",
        1..=4 => "\r\n",
        5 => " \n",
        _ => "\n",
    }
}

fn version(dice: &mut Dice) -> &'static str {
    let odd = [r#""\u0032.0""#, "2.0", r#""2.0 ""#, r#""1.0""#, "2", "null", r#"["2.0"]"#];
    if dice.is_one_in(40) { dice.pick(&odd) } else { r#""2.0""# }
}

fn id(dice: &mut Dice, serial: usize) -> String {
    match dice.below(120) {
        0 => "null".into(),
        1 => format!("{serial}.0"),
        2 => format!("{serial}e0"),
        3 => format!("{serial}.5"),
        4 => "true".into(),
        5 => format!("[{serial}]"),
        6 => format!("9007199254{serial:06}"),
        7 => format!("{serial}18446744073709551616"),
        8 => "-0".into(),
        9 => format!("-{serial}"),
        10 => format!("0{serial}"),
        11 => format!("\"{serial}\""),
        12 => format!("\" {serial}\""),
        13 => format!("\"\\u0000{serial}\""),
        14 => format!("\"\\ud800{serial}\""),
        15 => r#""""#.into(),
        16 => format!("\"{}{serial}\"", "i".repeat(250 + dice.below(12))),
        17..=30 => format!("\"call-{serial}\""),
        _ => serial.to_string(),
    }
}

fn method(dice: &mut Dice) -> String {
    let odd = [
        "ping",
        "tools/list",
        "Tools/Call",
        "tools/call ",
        "tools/call\\u0000",
        "tools/cal\\u006c",
        "tools//call",
        "notifications/progress",
        "resources/read",
        "",
        "tool\\u017f/call",
        "\\ttools/call",
    ];
    match dice.below(30) {
        0 => format!("\"{}\"", dice.pick(&odd)),
        1 => dice.pick(&["null", "7", r#"["tools/call"]"#, r#"{"tools/call":1}"#]).to_owned(),
        _ => spelled(dice, "tools/call"),
    }
}

fn params(dice: &mut Dice, era: Era, serial: usize) -> String {
    if dice.is_one_in(60) {
        return dice.pick(&["null", "[]", r#"["safe",{}]"#, r#""safe""#, "7", "{}"]).to_owned();
    }
    let mut members = vec![(spelled(dice, "name"), name(dice, serial))];
    if era == Era::Modern {
        members.push((spelled(dice, "_meta"), MODERN_META.to_owned()));
    }
    if !dice.is_one_in(12) {
        members.push((spelled(dice, "arguments"), arguments(dice, serial)));
    }
    while dice.is_one_in(6) {
        members.push(odd_param(dice, serial));
    }
    object(dice, members)
}

fn name(dice: &mut Dice, serial: usize) -> String {
    match dice.below(24) {
        0 => dice.pick(&["null", "7", r#"["safe"]"#, r#"{"a":1}"#, "true", "{}"]).to_owned(),
        1 => format!("\"safe\\u0000{serial}\""),
        2 => format!(
            "\"{}{serial}\"",
            dice.pick(&[
                "SAFE",
                "safe ",
                "saf\u{435}",
                "safe\u{200b}",
                "s\u{212a}",
                "\u{ff53}afe",
                "",
                "\\n",
                "\\ud83d\\ude00"
            ])
        ),
        _ => spelled(dice, &format!("safe{serial}")),
    }
}

fn arguments(dice: &mut Dice, serial: usize) -> String {
    match dice.below(30) {
        0 => dice.pick(&["null", "[]", "\"{}\"", "7", "false", "\"\"", "0", "[[]]"]).to_owned(),
        1 => {
            let depth = 50 + dice.below(90);
            format!(r#"{{"serial":{serial},"deep":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
        }
        _ => {
            let mut members = vec![(r#""serial""#.to_owned(), serial.to_string())];
            for _ in 0..dice.below(4) {
                members.push((key(dice), value(dice, 3)));
            }
            object(dice, members)
        }
    }
}

/// A member of the message that some reader may take for another.
fn odd_member(dice: &mut Dice, serial: usize) -> (String, String) {
    let call = format!(r#"{{"name":"danger{serial}","arguments":{{}}}}"#);
    let (key, value): (&str, String) = match dice.below(22) {
        0 => ("Method", "\"ping\"".into()),
        1 => ("METHOD", "\"tools/call\"".into()),
        2 => ("method ", "\"ping\"".into()),
        3 => ("method\\u0000", "\"ping\"".into()),
        4 => ("method", "\"ping\"".into()),
        5 => ("m\\u0065thod", "\"tools/call\"".into()),
        6 => ("params", call),
        7 => ("Params", call),
        8 => ("param\u{17f}", call),
        9 => ("params ", call),
        10 => ("id", "null".into()),
        11 => ("ID", format!("{serial}1")),
        12 => ("result", "{}".into()),
        13 => ("error", r#"{"code":1,"message":"x"}"#.into()),
        14 => ("__proto__", format!(r#"{{"params":{call}}}"#)),
        15 => ("jsonrpc", "\"2.0\"".into()),
        16 => ("\u{feff}method", "\"ping\"".into()),
        17 => ("name", format!("\"danger{serial}\"")),
        18 => ("_meta", value(dice, 2)),
        19 => ("", "1".into()),
        20 => ("constructor", r#"{"prototype":{"method":"ping"}}"#.into()),
        _ => ("trace", value(dice, 2)),
    };
    (format!("\"{key}\""), value)
}

fn odd_param(dice: &mut Dice, serial: usize) -> (String, String) {
    let danger = format!("\"danger{serial}\"");
    let (key, value): (&str, String) = match dice.below(24) {
        0 => ("Name", danger),
        1 => ("NAME", danger),
        2 => ("name ", danger),
        3 => ("name\\u0000", danger),
        4 => ("n\\u0061me", danger),
        5 => ("\u{ff4e}ame", danger),
        6 => ("Arguments", r#"{"m":"danger"}"#.into()),
        7 => ("argument\u{17f}", r#"{"m":"danger"}"#.into()),
        8 => ("arguments", r#"{"m":"danger"}"#.into()),
        9 => ("args", r#"{"m":"danger"}"#.into()),
        10 => ("__proto__", format!(r#"{{"name":{danger},"arguments":{{"m":"danger"}}}}"#)),
        11 => ("_meta", r#"{"progressToken":1}"#.into()),
        12 => ("_meta", value(dice, 3)),
        13 => ("_meta", format!(r#"{{"name":{danger},"params":{{"name":{danger}}}}}"#)),
        14 => ("task", r#"{"ttl":1000}"#.into()),
        15 => ("tool", danger),
        16 => ("toolName", danger),
        17 => ("inputResponses", "{}".into()),
        18 => ("requestState", "\"x\"".into()),
        19 => ("constructor", r#"{"prototype":{"m":1}}"#.into()),
        20 => ("method", "\"tools/call\"".into()),
        21 => ("", danger),
        22 => ("_meta", MODERN_META.into()),
        _ => ("cursor", value(dice, 1)),
    };
    (format!("\"{key}\""), value)
}

/// A string in JSON, some characters of it escaped.
fn spelled(dice: &mut Dice, text: &str) -> String {
    let is_odd = dice.is_one_in(4);
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '/' if is_odd && dice.is_one_in(3) => out.push_str("\\/"),
            c if is_odd && dice.is_one_in(4) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn key(dice: &mut Dice) -> String {
    let keys = [
        "a",
        "b",
        "A",
        "",
        "é",
        "e\u{301}",
        "\u{212a}",
        "k",
        "path",
        "Path",
        "1",
        "01",
        "length",
        "toString",
        "constructor",
        "__proto__",
        "__class__",
        "prototype",
        "a b",
        "a\\u0000",
        "\\u0000",
        "\\n",
        "\\ud83d\\ude00",
        "\u{feff}",
        "\u{200b}x",
        "a.b",
        "$ref",
        "serial",
        "\\u0073erial",
        "name",
        "arguments",
    ];
    format!("\"{}\"", dice.pick(&keys))
}

fn value(dice: &mut Dice, depth: usize) -> String {
    const STRINGS: [&str; 18] = [
        "x",
        "",
        "\\ud83d\\ude00",
        "\u{1f980}",
        "\\ud800",
        "\\udc00\\ud800",
        "\u{2028}\u{2029}\u{85}",
        "\\u0000",
        "a\\/b",
        "\\\\",
        "\\\"",
        "\u{7f}",
        "\u{feff}",
        "\u{fffd}\u{ffff}",
        "\\u001b[2J",
        "NaN",
        "e\u{301}",
        "\\uFFFE",
    ];
    const NUMBERS: [&str; 26] = [
        "0",
        "-0",
        "-0.0",
        "1",
        "1.0",
        "1e0",
        "1E+2",
        "9007199254740993",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "5e-324",
        "0.1",
        "0.30000000000000004",
        "NaN",
        "Infinity",
        "01",
        "1.",
        ".5",
        "+1",
        "0x10",
        "1_000",
    ];
    match dice.below(if depth == 0 { 8 } else { 11 }) {
        0 => dice.pick(&["null", "true", "false"]).to_owned(),
        1 | 2 => dice.pick(&NUMBERS[..18]).to_owned(),
        3 if dice.is_one_in(4) => dice.pick(&NUMBERS).to_owned(),
        3 | 4 => dice.below(1_000_000).to_string(),
        5..=7 => format!("\"{}\"", dice.pick(&STRINGS)),
        8 => {
            let items: Vec<String> = (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let members = (0..dice.below(4)).map(|_| (key(dice), value(dice, depth - 1))).collect();
            object(dice, members)
        }
    }
}

/// An object with its members in any order and white space anywhere between tokens.
fn object(dice: &mut Dice, mut members: Vec<(String, String)>) -> String {
    let mut out = String::from("{");
    let mut is_first = true;
    while !members.is_empty() {
        let (key, value) = members.remove(dice.below(members.len()));
        if !is_first {
            out.push(',');
        }
        is_first = false;
        for part in [key.as_str(), ":", value.as_str()] {
            out.push_str(part);
            out.push_str(space(dice));
        }
    }
    out.push('}');
    out
}

fn space(dice: &mut Dice) -> &'static str {
    const ODD: [&str; 10] =
        ["\r", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\0", "\u{2028}", "\u{85}", "/**/", "\u{1f}"];
    match dice.below(1500) {
        0 => dice.pick(&ODD),
        1..=120 => " ",
        121..=160 => "\t",
        _ => "",
    }
}

fn damage(dice: &mut Dice, line: &mut Vec<u8>) {
    let at = dice.below(line.len());
    match dice.below(7) {
        0 => line.insert(at, dice.pick(b"{}[],:\"\\ \r\n\0\x7f\x1f\xff\xc0\xa0eE-+.0truenlN")),
        1 => drop(line.remove(at)),
        2 => line[at] = dice.pick(b"{}[],:\"\\ \r\n\0\x80\xff09azAZ"),
        3 => line[at] ^= 0x20,
        4 => {
            let end = (at + 1 + dice.below(30)).min(line.len());
            let part = line[at..end].to_vec();
            let to = dice.below(line.len());
            line.splice(to..to, part);
        }
        5 => {
            let end = (at + 1 + dice.below(12)).min(line.len());
            line.drain(at..end);
        }
        _ => {
            let other = dice.below(line.len());
            line.swap(at, other);
        }
    }
    if line.is_empty() {
        line.push(b' ');
    }
}

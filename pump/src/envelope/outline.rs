//! The envelope of a large frame without a look inside its nested values.
//!
//! Reading 10 MB of records as JSON takes longer than carrying them. Where nobody depends on what is
//! inside an answer, only its envelope has to be certain: that the text is UTF-8 and has no bare CR,
//! and which members its top level has. So nested values are passed over 64 bytes at a time, counting
//! the brackets that stand outside strings.
//!
//! For JSON text this finds what [`super::peek`] finds. Text that is broken *inside* a nested value
//! (`NaN`, `[}`, a raw control character) is not noticed here, where the peek says that it is no JSON;
//! either way it goes on to the client, and the readers that take such text see the same envelope.
//! Whatever is not plainly an answer is left to the peek.

#[cfg(target_arch = "x86_64")]
use lanes::{brackets, quoting};
#[cfg(not(target_arch = "x86_64"))]
use words::{brackets, quoting};

use super::{Envelope, Found, Key, Kind, Span, classify};
use crate::scan::Scan;

/// The envelope of an answer. `None`: only a whole peek can say what this is.
pub fn outline(body: &[u8]) -> Option<Envelope> {
    let mut seen = Seen::default();
    let Found { mut envelope, oddity } = members(body, &mut seen)?;
    if oddity.is_some() || seen.has_carriage_return {
        return None;
    }
    if seen.has_non_ascii && simdutf8::basic::from_utf8(body).is_err() {
        return None;
    }
    envelope.kind = classify(&envelope, body);
    (envelope.kind == Kind::Response).then_some(envelope)
}

/// As [`super::members`], with nested values passed over unread.
fn members(body: &[u8], seen: &mut Seen) -> Option<Found> {
    let mut found = Found::new();
    let mut scan = Scan::over(body);
    let mut has_version = false;
    // `body[..looked]` has been looked at for what `seen` says.
    let mut looked = 0;
    if !scan.eat(b'{') {
        return None;
    }
    loop {
        let key = Key::read(&mut scan)?;
        let start = scan.next_token();
        let value = match body.get(start)? {
            b'{' | b'[' => {
                seen.look(body.get(looked..start)?);
                looked = start + nested_bytes(body.get(start..)?, seen)?;
                scan.pass_to(looked);
                start..looked
            }
            _ => scan.value()?,
        };
        found.add(key, Span::new(value), &mut has_version);
        if !scan.eat(b',') {
            break;
        }
    }
    let is_whole = scan.eat(b'}') && scan.is_at_end();
    seen.look(body.get(looked..)?);
    is_whole.then_some(found)
}

/// What the bytes that were passed over held.
#[derive(Default)]
struct Seen {
    has_carriage_return: bool,
    has_non_ascii: bool,
}

impl Seen {
    fn look(&mut self, bytes: &[u8]) {
        self.has_carriage_return |= memchr::memchr(b'\r', bytes).is_some();
        self.has_non_ascii |= !bytes.is_ascii();
    }
}

const BLOCK_BYTES: usize = 64;

/// Where strings may begin and end in a block, one bit a byte.
struct Quoting {
    backslashes: u64,
    quotes: u64,
}

/// Where nesting may begin and end in a block, one bit a byte.
struct Brackets {
    closing: u64,
    opening: u64,
}

/// The length of the object or array that `text` starts with. `None` if its end does not come, or a
/// backslash stands outside strings, where no two readers need agree on what follows.
fn nested_bytes(text: &[u8], seen: &mut Seen) -> Option<usize> {
    let mut nest = Nest::default();
    let (blocks, rest) = text.as_chunks::<BLOCK_BYTES>();
    for (at, block) in blocks.iter().enumerate() {
        if let Some(end) = nest.pass(block, seen)? {
            return Some(at * BLOCK_BYTES + end);
        }
    }
    let mut last = [b' '; BLOCK_BYTES];
    last.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
    let end = nest.pass(&last, seen)??;
    Some(blocks.len() * BLOCK_BYTES + end)
}

/// Where in a text the blocks so far have led to.
#[derive(Default)]
struct Nest {
    /// Brackets that are open.
    depth: u32,
    /// All ones inside a string.
    in_string: u64,
    /// One if the next byte is escaped.
    next_escaped: u64,
}

impl Nest {
    /// Passes over a block; the bytes up to the last bracket's end, if that is in it.
    #[inline]
    fn pass(&mut self, block: &[u8; BLOCK_BYTES], seen: &mut Seen) -> Option<Option<usize>> {
        let Quoting { backslashes, quotes } = quoting(block, seen);
        if quotes | backslashes == 0 && self.next_escaped == 0 && self.in_string != 0 {
            return Some(None);
        }
        let escaped = self.escaped(backslashes);
        let inside = prefix_xor(quotes & !escaped) ^ self.in_string;
        if backslashes & !inside != 0 {
            return None;
        }
        self.in_string = if inside >> 63 == 1 { u64::MAX } else { 0 };
        if inside == u64::MAX {
            return Some(None);
        }
        let Brackets { closing, opening } = brackets(block);
        let (opening, closing) = (opening & !inside, closing & !inside);
        let (opened, closed) = (opening.count_ones(), closing.count_ones());
        if closed < self.depth {
            self.depth = self.depth.saturating_add(opened) - closed;
            return Some(None);
        }
        Some(self.walk(opening, closing))
    }

    /// Bracket by bracket, in a block where the last may close.
    #[cold]
    fn walk(&mut self, opening: u64, closing: u64) -> Option<usize> {
        let mut both = opening | closing;
        while both != 0 {
            let lowest = both & both.wrapping_neg();
            if opening & lowest != 0 {
                self.depth = self.depth.saturating_add(1);
            } else {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(lowest.trailing_zeros() as usize + 1);
                }
            }
            both ^= lowest;
        }
        None
    }

    /// Which bytes stand behind a backslash that is not itself escaped.
    ///
    /// A run of backslashes escapes every second byte, counted from its start; subtracting carries
    /// through a run from where it starts on an even or odd place (simdjson's way).
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let before = self.next_escaped;
        if backslashes == 0 {
            self.next_escaped = 0;
            return before;
        }
        let may_escape = backslashes & !before;
        let series = ((may_escape << 1) | ODD).wrapping_sub(may_escape) ^ ODD;
        let escapes = series & backslashes;
        self.next_escaped = escapes >> 63;
        series ^ (backslashes | before)
    }
}

/// Bit n is the parity of the bits up to n: from an opening quote to the byte before the closing one.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Sixteen bytes at a time: SSE2 is part of every x86-64.
#[cfg(target_arch = "x86_64")]
mod lanes {
    use safe_arch::{
        cmp_eq_mask_i8_m128i, load_unaligned_m128i, m128i, move_mask_i8_m128i, set_splat_i8_m128i,
    };

    use super::{BLOCK_BYTES, Brackets, Quoting, Seen};

    fn all(byte: u8) -> m128i {
        set_splat_i8_m128i(byte.cast_signed())
    }

    fn bits(lanes: m128i) -> u64 {
        u64::from(move_mask_i8_m128i(lanes).cast_unsigned() & 0xffff)
    }

    fn equal(lanes: m128i, byte: u8) -> u64 {
        bits(cmp_eq_mask_i8_m128i(lanes, all(byte)))
    }

    pub(super) fn quoting(block: &[u8; BLOCK_BYTES], seen: &mut Seen) -> Quoting {
        let mut found = Quoting { backslashes: 0, quotes: 0 };
        let (mut returns, mut any) = (all(0), all(0));
        let (lanes, _) = block.as_chunks::<16>();
        for (at, lane) in lanes.iter().enumerate() {
            let bytes = load_unaligned_m128i(lane);
            found.quotes |= equal(bytes, b'"') << (at * 16);
            found.backslashes |= equal(bytes, b'\\') << (at * 16);
            returns |= cmp_eq_mask_i8_m128i(bytes, all(b'\r'));
            any |= bytes;
        }
        seen.has_carriage_return |= bits(returns) != 0;
        seen.has_non_ascii |= bits(any) != 0;
        found
    }

    pub(super) fn brackets(block: &[u8; BLOCK_BYTES]) -> Brackets {
        let mut found = Brackets { closing: 0, opening: 0 };
        let (lanes, _) = block.as_chunks::<16>();
        for (at, lane) in lanes.iter().enumerate() {
            // `[` and `{`, `]` and `}` differ in this bit only.
            let folded = load_unaligned_m128i(lane) | all(0x20);
            found.opening |= equal(folded, b'{') << (at * 16);
            found.closing |= equal(folded, b'}') << (at * 16);
        }
        found
    }
}

/// The same without vectors, eight bytes at a time: for other machines, and as the twin in tests.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    use super::{BLOCK_BYTES, Brackets, Quoting, Seen};

    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

    /// One bit for each byte of `word` that is `byte`.
    fn equal(word: u64, byte: u8) -> u64 {
        let differs = word ^ u64::from_le_bytes([byte; 8]);
        // No carry leaves a byte, so each byte's high bit says whether that byte is zero.
        let zero = !(((differs & !HIGH) + !HIGH) | differs) & HIGH;
        (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    pub(super) fn quoting(block: &[u8; BLOCK_BYTES], seen: &mut Seen) -> Quoting {
        let mut found = Quoting { backslashes: 0, quotes: 0 };
        let (words, _) = block.as_chunks::<8>();
        for (at, bytes) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            found.quotes |= equal(word, b'"') << (at * 8);
            found.backslashes |= equal(word, b'\\') << (at * 8);
            seen.has_carriage_return |= equal(word, b'\r') != 0;
            seen.has_non_ascii |= word & HIGH != 0;
        }
        found
    }

    pub(super) fn brackets(block: &[u8; BLOCK_BYTES]) -> Brackets {
        let mut found = Brackets { closing: 0, opening: 0 };
        let (words, _) = block.as_chunks::<8>();
        for (at, bytes) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            found.opening |= (equal(word, b'{') | equal(word, b'[')) << (at * 8);
            found.closing |= (equal(word, b'}') | equal(word, b']')) << (at * 8);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::{assert_peek_agrees, peek};
    use super::*;

    #[test]
    fn an_answer_is_found_wherever_its_value_ends() {
        for fill in 0..2 * BLOCK_BYTES {
            for inside in ["", r#""]}""#, r#""\"""#, r#""\\","\\\"]""#, r#"[{"a":[]}],{}"#, "\"é\""] {
                let pad = " ".repeat(fill);
                for body in [
                    format!(r#"{{"jsonrpc":"2.0","id":7,"result":[{pad}{inside}]}}"#),
                    format!(r#"{{"result":{{"a":[{inside}{pad}]}},"_meta":[{pad}],"id":"x"}} "#),
                    format!(r#"{{"id":7,"error":{{"message":"{pad}\\"}} , "x":"{pad}"}}"#),
                ] {
                    assert_peek_agrees(body.as_bytes());
                    assert_eq!(outline(body.as_bytes()), Some(peek(body.as_bytes())), "{body}");
                }
            }
        }
    }

    #[test]
    fn what_is_broken_inside_is_still_an_answer() {
        for inside in ["NaN", "1,", ",", "{]", "\u{1}", "\"\u{1}\"", r#""\x""#, r#""a":1"#, "'"] {
            let body = format!(r#"{{"result":[{inside}],"id":7}}"#);
            assert_peek_agrees(body.as_bytes());
            assert_eq!(outline(body.as_bytes()).map(|found| found.kind), Some(Kind::Response), "{body}");
        }
    }

    #[test]
    fn an_envelope_that_is_not_certain_has_no_outline() {
        for body in [
            &b"{\"id\":7,\"result\":[],\"id\":7}"[..],
            b"{\"id\":7,\"result\":[],\"\\u0069d\":8}",
            b"{\"id\":7,\"result\":[],\"Id\":8}",
            b"{\"id\":7,\"result\":[],\"error\":{}}",
            b"{\"id\":7,\"result\":[],\"method\":\"ping\"}",
            b"{\"id\":[7],\"result\":[]}",
            b"{\"id\":NaN,\"result\":[]}",
            b"{\"id\":7,\"result\":[],}",
            b"{\"id\":7,\"result\":[]}}",
            b"{\"id\":7,\"result\":[]} {}",
            b"{\"id\":7,\"result\":[]",
            b"{\"id\":7,\"result\":[\"]}",
            b"{\"id\":7,\"result\":[\\\"]}",
            b"[{\"id\":7,\"result\":[]}]",
            b"\xef\xbb\xbf{\"id\":7,\"result\":[]}",
            b"{\"id\":7,\"result\":[\"\xff\"]}",
            b"{\"id\":7,\"result\":[\"\xed\xa0\x80\"]}",
            b"{\"id\":7,\"result\":[\r]}",
            b"{\"id\":7,\"result\":[],\r\"x\":1}",
            b"{\"id\":7,\"result\":[]}\r",
            b"{\"id\":7,\"method\":\"a\",\"params\":[]}",
            b"{}",
            b"",
        ] {
            assert_peek_agrees(body);
            assert_eq!(outline(body), None, "{}", body.escape_ascii());
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_ways_of_marking_agree() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK_BYTES {
                for fill in [b'x', b'"', b'\\', 0xff, 0] {
                    let mut block = [fill; BLOCK_BYTES];
                    block[at] = byte;
                    let (mut one, mut other) = (Seen::default(), Seen::default());
                    let (a, b) = (lanes::quoting(&block, &mut one), words::quoting(&block, &mut other));
                    assert_eq!((a.backslashes, a.quotes), (b.backslashes, b.quotes));
                    let (a, b) = (lanes::brackets(&block), words::brackets(&block));
                    assert_eq!((a.closing, a.opening), (b.closing, b.opening));
                    assert_eq!(one.has_carriage_return, other.has_carriage_return);
                    assert_eq!(one.has_non_ascii, other.has_non_ascii);
                }
            }
        }
    }

    const PIECES: [&str; 28] = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        "\\\"",
        "\\\\",
        ",",
        ":",
        "NaN",
        "1",
        "\"a\":",
        "{\"id\":8}",
        "é",
        "\r",
        " ",
        "\"id\":7",
        "\"Id\":",
        "\"result\":",
        "\"error\":{}",
        "\"method\":\"a\"",
        "true",
        "\u{1}",
        "\"x\"",
        "[1,2]",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "                                                             ",
    ];

    proptest! {
        #[test]
        fn the_outline_never_sees_another_envelope_than_the_peek(
            inside in vec(select(&PIECES[..]), 0..40),
            behind in vec(select(&PIECES[..]), 0..6),
            raw in vec(select(&PIECES[..]), 0..40),
        ) {
            let (inside, behind) = (inside.concat(), behind.concat());
            assert_peek_agrees(format!(r#"{{"jsonrpc":"2.0","id":7,"result":[{inside}]{behind}}}"#).as_bytes());
            assert_peek_agrees(format!(r#"{{"result":{{"t":"{inside}"}},"id":7{behind}}}"#).as_bytes());
            assert_peek_agrees(raw.concat().as_bytes());
        }

        #[test]
        fn nor_where_a_byte_of_an_answer_is_another(at in any::<usize>(), with in any::<u8>(), cut in 0_usize..3) {
            let row = r#"{"id":18,"t":"a\"]}\\","n":[1,{"é":null}]},"#.repeat(4);
            let mut body = format!(r#"{{"jsonrpc":"2.0","result":{{"rows":[{row}7]}},"id":7}}"#).into_bytes();
            let at = at % body.len();
            let end = (at + cut).min(body.len());
            body.splice(at..end, [with]);
            assert_peek_agrees(&body);
        }
    }
}

use super::*;
use crate::json::{Document, Limits, Value};

fn rows(text: &str) -> Vec<Document> {
    text.lines().map(|line| Document::read(line.to_owned().into(), &Limits::default()).unwrap()).collect()
}

fn text<'a>(row: Value<'a>, name: &str) -> &'a str {
    row.get("input").and_then(|input| input.get(name)).and_then(Value::as_str).unwrap()
}

#[test]
fn agrees_with_the_oracle_on_same_url() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../tests/data/oracle/same_url.jsonl")) {
        let row = row.root();
        let rule = if text(row, "path") == "prefix" { PathRule::Prefix } else { PathRule::Exact };
        let expected = row.get("output").and_then(Value::as_bool).unwrap();
        if same_url(text(row, "value"), text(row, "written"), rule) != expected {
            wrong.push(row.raw().to_owned());
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn agrees_with_the_oracle_on_parts() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../tests/data/oracle/url_parts.jsonl")) {
        let row = row.root();
        let output = row.get("output").unwrap();
        let found = parts(text(row, "url"));
        let same = match (&found, output.is_null()) {
            (None, is_null) => is_null,
            (Some(_), true) => false,
            (Some(found), false) => {
                let expected: Vec<Value<'_>> = output.items().collect();
                let scheme =
                    found.scheme.map(|scheme| if scheme == Scheme::Https { "https" } else { "http" });
                expected[0].as_str() == Some(&found.host)
                    && expected[1].number() == found.port.map(|port| port.to_string()).as_deref()
                    && expected[2].as_str() == Some(&found.path)
                    && expected[3].as_str() == Some(&found.query)
                    && expected[4].as_str() == Some(&found.fragment)
                    && expected[5].as_str() == scheme
            }
        };
        if !same {
            wrong.push(format!("{} but {found:?}", row.raw()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_host_is_what_every_reader_takes_for_it() {
    for (url, expected) in [
        ("https://Bank.Example/pay", "bank.example"),
        ("HTTP://bank.example:8080/", "bank.example"),
        ("https://bank.example.", "bank.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://www.bank.example/", "www.bank.example"),
        ("http://intranet/x", "intranet"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[::1]:3000/", "[::1]"),
    ] {
        assert_eq!(host(url).as_deref(), Ok(expected), "{url}");
    }
    for url in [
        "",
        "bank.example",
        "//bank.example/",
        "ftp://bank.example/",
        "javascript://bank.example/%0aalert(1)",
        "https:/bank.example/",
        "https:bank.example",
        "https://user@bank.example/",
        "https://bank.example@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://bank.example\\.evil.example/",
        "https://bank\t.example/",
        "https://bank.example\n.evil.example",
        " https://bank.example/",
        "https://bank.exa\u{200b}mple/",
        "https://bank.example\u{ff0f}.evil.example/",
        "https://bank.example%2f.evil.example/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://0177.0.0.1/",
        "http://[::1",
        "http://[1.2.3.4]/",
        "http://a:b:c/",
        "http://a:99999/",
        "http://a:٣/",
        "http://:80/",
        "http:///x",
    ] {
        assert!(host(url).is_err(), "{url:?} gave {:?}", host(url));
    }
}

#[test]
fn below_a_prefix() {
    for (url, prefix, expected) in [
        ("https://api.example/v1/x?q=1", "https://api.example/v1", true),
        ("https://api.example/v1", "https://api.example/v1/", true),
        ("https://api.example/v12", "https://api.example/v1", false),
        ("https://api.example/v1/../admin", "https://api.example/v1", false),
        ("https://api.example/v1/%2e%2e/admin", "https://api.example/v1", false),
        ("http://api.example/v1/x", "https://api.example/v1", false),
        ("https://api.example.evil.example/v1", "https://api.example/v1", false),
        ("https://api.example:8443/v1", "https://api.example/v1", false),
        ("https://api.example/v1?a=1", "https://api.example/v1?a=2", false),
    ] {
        assert_eq!(is_below(url, prefix), expected, "{url} {prefix}");
    }
}

#[test]
fn length_limit() {
    let url = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - 18));
    for (bytes, fits) in [(URL_BYTES_MAX - 1, true), (URL_BYTES_MAX, true), (URL_BYTES_MAX + 1, false)] {
        assert_eq!(parts(&url(bytes)).is_some(), fits);
        assert_eq!(host(&url(bytes)).is_ok(), fits);
    }
}

mod random {
    use proptest::prelude::*;

    proptest! {
        /// Where both read a host, it is the same one.
        #[test]
        fn strict_parts_agree_with_the_web(tail in "[a-z0-9.:@/?#\\\\%\\[\\]\u{e9}\u{df}\u{3002}-]{0,24}") {
            let text = format!("https://{tail}");
            if let (Some(parts), Ok(read)) = (super::parts(&text), ::url::Url::parse(&text)) {
                let host = read.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
                let bare = host.strip_prefix("www.").filter(|bare| bare.contains('.')).unwrap_or(host);
                let numeric = |label: &str| label.starts_with(|c: char| c.is_ascii_digit());
                // Numbers and ß are read in more than one way on purpose.
                if !tail.contains('ß') && !parts.host.rsplit('.').next().is_some_and(numeric) && !parts.host.contains(':') {
                    prop_assert_eq!(&parts.host, bare, "{}", text);
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = (super::parts(&text), super::host(&text));
            prop_assert!(!super::same_url(&text, "https://bank.example", super::PathRule::Exact)
                || text.to_lowercase().contains("bank.example"));
        }
    }
}

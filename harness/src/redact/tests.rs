use bytes::Bytes;
use framegate_guard::json::{Document, Limits};

use super::{MARK, bytes, json, text, without};

fn redacted(source: &str) -> String {
    let done = json(Bytes::copy_from_slice(source.as_bytes())).unwrap();
    Document::read(done.bytes.clone(), &Limits::default()).unwrap();
    String::from_utf8(done.bytes.to_vec()).unwrap()
}

/// `S` is a secret, and all of it must go; everything else must stay.
fn assert_hits(rows: &[&str]) {
    for row in rows {
        let source = row.replace("S3CR3T", "Xq7-S3CR3T_a8");
        let wanted = source.replace("Xq7-S3CR3T_a8", MARK);
        assert_eq!(redacted(&source), wanted, "{row}");
    }
}

#[test]
fn by_name_in_json() {
    assert_hits(&[
        r#"{"token":"S3CR3T"}"#,
        r#"{"Token": "S3CR3T" , "n":1.50}"#,
        r#"{"API_KEY":"S3CR3T","api-key":"S3CR3T","apiKey":"S3CR3T","apikey":"S3CR3T","x-api-key":"S3CR3T"}"#,
        r#"{"APIKey":"S3CR3T","XApiKey":"S3CR3T","openaiApiKey":"S3CR3T","api key":"S3CR3T"}"#,
        r#"{"pwd":"S3CR3T","passwd":"S3CR3T","passphrase":"S3CR3T","Password2":"S3CR3T","db_pass":"S3CR3T"}"#,
        r#"{"auth":"S3CR3T","Authorization":"S3CR3T","X-Auth":"S3CR3T","proxy_authorization":"S3CR3T"}"#,
        r#"{"secret":"S3CR3T","clientSecret":"S3CR3T","clientsecret":"S3CR3T","aws_secret_access_key":"S3CR3T"}"#,
        r#"{"credentials":{"user":"S3CR3T","more":["S3CR3T",{"x":"S3CR3T"}]}}"#,
        r#"{"cookie":"S3CR3T","Set-Cookie":["S3CR3T","S3CR3T"],"cookies":{"sid":"S3CR3T"}}"#,
        r#"{"private_key":"S3CR3T","sshKey":"S3CR3T","signing-key":"S3CR3T","AccountKey":"S3CR3T"}"#,
        r#"{"session_id":"S3CR3T","sessionId":"S3CR3T","sid":"S3CR3T","connectionString":"S3CR3T"}"#,
        r#"{"a":[{"b":{"Password":"S3CR3T"}}],"authToken":"S3CR3T","authtoken":"S3CR3T","jwt":"S3CR3T"}"#,
        r#"{"name":"TOKEN","value":"S3CR3T"}"#,
        r#"[{"value":"S3CR3T","key":"DB_PASSWORD"},{"key":"DB_USER","value":"root"}]"#,
        r#"{"headers":[["Authorization","S3CR3T"],["Accept","text/html"]]}"#,
        r#"{"args":["--password","S3CR3T","--user","me","-token","S3CR3T"]}"#,
        r#"{"\u0070assword":"S3CR3T"}"#,
    ]);
    let rows = [
        (r#"{"password":12345,"pin":1}"#, r#"{"password":"***","pin":1}"#),
        (r#"{"token":"a\"b\\"}"#, r#"{"token":"***"}"#),
        (r#"{"password":true,"secret":null,"token":""}"#, r#"{"password":true,"secret":null,"token":""}"#),
        (r#"{"token":"***"}"#, r#"{"token":"***"}"#),
        (r#"{"token":{"type":"string","default":"abc"}}"#, r#"{"token":{"type":"string","default":"***"}}"#),
    ];
    rows.iter().for_each(|(source, wanted)| assert_eq!(redacted(source), *wanted));
}

#[test]
fn by_name_in_the_strings_of_json_and_in_texts() {
    assert_hits(&[
        r#"{"headers":["X-Api-Key: S3CR3T","Accept: text/html","Cookie: S3CR3T"]}"#,
        r#"{"env":["API_KEY=S3CR3T","PATH=/bin"]}"#,
        r#"{"command":"curl -H 'X-Token: S3CR3T' --data a https://x.io"}"#,
        r#"{"command":"mysql --password=S3CR3T -u me"}"#,
        r#"{"command":"login --password S3CR3T --user me"}"#,
        r#"{"url":"https://x.io/a?b=1&access_token=S3CR3T&c=2"}"#,
        r#"{"dsn":"Server=db;Uid=me;Pwd=S3CR3T;Encrypt=yes"}"#,
        r##"{"content":"# my file\npassword: S3CR3T\nuser: me\n"}"##,
        r#"{"body":"{\"user\":\"me\",\"password\":\"S3CR3T\"}"}"#,
        r#"{"body":"{\"body\":\"{\\\"password\\\":\\\"S3CR3T\\\",\\\"user\\\":\\\"me\\\"}\"}"}"#,
        r#"{"code":"const apiKey = \"S3CR3T\"; run()"}"#,
        r#"{"code":"os.environ['TOKEN'] = 'S3CR3T'"}"#,
        r#"{"note":"the API key: S3CR3T"}"#,
    ]);
    for (source, wanted) in [
        ("Authorization: Digest username=\"a\", response=\"b\"\nAccept: x", "Authorization: ***\nAccept: x"),
        ("Cookie: a=b; c=d\r\nHost: y", "Cookie: ***\r\nHost: y"),
        ("password: correct horse battery", "password: ***"),
        ("auth=Bearer abc", "auth=***"),
        ("say TOKEN=a,b;c next", "say TOKEN=*** next"),
        ("password=\"a\\\"b\" x", "password=\"***\" x"),
        ("password='unfinished", "password='***"),
        ("token = ", "token = "),
    ] {
        assert_eq!(text(source), wanted, "{source}");
    }
}

#[test]
fn by_the_looks_of_the_value() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N";
    let values = [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwx",
        "glpat-abcdefghij0123456789",
        "xoxb-1234567890-abcdefghij",
        "sk_live_abcdefghij0123456789",
        "sk-proj-abcdefghij0123456789",
        "sk-ant-api03-abcdefghij0123456789",
        "sk-MARK-SECRET-1",
        "AIzaSyA-abcdefghij0123456789abcdefghij0",
        jwt,
        "npm_abcdefghij0123456789abcdefghij012345",
        "hf_abcdefghijklmnopqrstuvwxyz012345",
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\nabc\\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nnever ends",
    ];
    for value in values {
        assert_eq!(redacted(&format!(r#"{{"q":"{value}"}}"#)), r#"{"q":"***"}"#, "{value}");
        assert_eq!(redacted(&format!(r#"{{"{value}":true}}"#)), r#"{"***":true}"#, "{value}");
    }
    assert_eq!(redacted(&format!(r#"{{"{}":1,"{}":2}}"#, values[0], values[1])), r#"{"***":1,"***2":2}"#);
    for (source, wanted) in [
        ("a Bearer abcdef123 b", "a Bearer *** b"),
        ("Basic dXNlcjpwYXNz x", "Basic *** x"),
        ("postgres://me:p%40ss@db/x", "postgres://me:***@db/x"),
        ("redis://:p4ss@db:6379", "redis://:***@db:6379"),
        ("https://u:p@ss/w@host/x", "https://u:***@host/x"),
        ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/***"),
        ("use AKIAIOSFODNN7EXAMPLE now", "use *** now"),
    ] {
        let source = source.replace("hooks.slack.com/***", "");
        let wanted = wanted.replace("slack.com/***", "slack.com/services/***");
        assert_eq!(text(&source), wanted, "{source}");
    }
    let escaped = r#"{"u":"postgres:\/\/me:pass@db\/x"}"#;
    assert_eq!(redacted(escaped), r#"{"u":"postgres:\/\/me:***@db\/x"}"#);
}

#[test]
fn harmless_look_alikes_stay() {
    for source in [
        r#"{"max_tokens":100,"token_count":5,"tokens":7,"tokenCount":"many","total_tokens":"12"}"#,
        r#"{"session_name":"main","session":"main","sessions":["a"],"token_type":"bearer"}"#,
        r#"{"next_page_token":"abc","nextToken":"abc","pageToken":"abc","stop_tokens":["a"]}"#,
        r#"{"author":"A. Uthor","authors":["x"],"authority":"y","secretary":"z","monkey":"k","keyboard":"q"}"#,
        r#"{"key":"v","keys":["a"],"primary_key":"id","public_key":"ssh-ed25519 AAAA","sort-key":"n","foreignKey":"f"}"#,
        r#"{"password_policy":"long","secretName":"db","token_url":"https://x.io/t","auth_method":"oauth","key_file":"/k"}"#,
        r#"{"name":"city","value":"Rome"}"#,
        r#"{"passenger":"me","compass":"north","bypass":"no","passed":"yes","signature":"fn f()","design":"x","inside":"y"}"#,
        r#"{"q":"Basic training for a bearer of news","path":"/home/me/tokens.txt","u":"http://localhost:8080/@scope/p"}"#,
        r#"{"q":"risk-management-of-everything","e":"me@example.com","g":"ssh://git@github.com/a/b","t":"12:30"}"#,
        r#"{"text":"see https://example.com/a:b and http://[::1]:80/@x","code":"let token;","cmd":"keygen -k file"}"#,
        r#"{"authenticated":"yes","is_secret":true,"cookie_name":"sid","credential_type":"x","token_ids":[1,2]}"#,
        r#"{"paths":{"/etc/passwd":"/etc/passwd"}}"#,
        r#"{"properties":{"token":{"type":"string","description":"yours","minLength":8},"auth":{"type":["object","null"],"properties":{"pwd":{"type":"string"}},"required":["pwd"]}}}"#,
        "[]",
        "3",
    ] {
        assert_eq!(redacted(source), source);
        assert_eq!(bytes(source.as_bytes()), None);
    }
}

#[test]
fn what_is_not_strict_json_is_a_text() {
    assert!(json(Bytes::from_static(br#"{"token":"a","token":"b"}"#)).is_err());
    let twice = bytes(br#"{"token":"aa","token":"bb"}"#).unwrap();
    assert_eq!(twice, br#"{"token":"***","token":"***"}"#);
    assert_eq!(bytes(b"\xff\xfe no text"), None);
}

#[test]
fn a_message_that_quotes_a_secret_is_cleaned() {
    let done = json(Bytes::from_static(br#"{"password":"hunter2!","pin":{"token":"x"}}"#)).unwrap();
    assert_eq!(done.secrets, ["hunter2!", "x"]);
    assert_eq!(
        without("expected a number, found `hunter2!`", &done.secrets),
        "expected a number, found `***`"
    );
    assert_eq!(without("x is short", &done.secrets), "x is short");
    assert_eq!(without("found `sk-MARK-SECRET-1`", &[]), "found `***`");
}

#[test]
fn a_message_that_quotes_a_secret_escaped_is_cleaned() {
    let secret = "Xq7\"S3C\\R3T\n\u{e9}\u{1f600}z";
    let once = serde_json::to_string(secret).unwrap();
    let ascii = r#"Xq7\"S3C\\R3T\n\u00e9\ud83d\ude00z"#;
    let debug = format!("{secret:?}");
    for text in [secret.to_owned(), once.clone(), ascii.to_owned(), debug.clone()] {
        let twice = serde_json::to_string(&text).unwrap();
        for quoted in [text, twice] {
            let said = without(&format!("found `{quoted}`, and more"), &[secret.to_owned()]);
            assert!(!said.contains("Xq7") && !said.contains("S3C") && said.ends_with(", and more"), "{said}");
        }
    }
    // As it was written, where nobody would escape.
    let done = json(Bytes::from_static(br#"{"password":"\u0058q7S3CR3T"}"#)).unwrap();
    let said = without(r#"expected a, got string "\u0058q7S3CR3T""#, &done.secrets);
    assert_eq!(said, r#"expected a, got string "***""#);
}

#[test]
fn a_message_that_quotes_the_start_of_a_secret_is_cleaned() {
    let secrets = [
        format!("Xq7-S3CR3T{}", "q".repeat(300)),
        format!("Yq7\"\u{e9}{}", "\u{e9}".repeat(99)),
        "ab".into(),
    ];
    for (message, wanted) in [
        ("got string \"Xq7-S3CR3Tqqqqq…; x", "got string \"***…; x"),
        ("got string Yq7\"\u{e9}\u{e9}…", "got string ***…"),
        (r#""got Yq7\"\u00e9\u00e9\u2026""#, r#""got ***\u2026""#),
        ("path `Xq7-S3CR3Tqqqqqqqqqqqqqqqqqq` is odd", "path `***` is odd"),
        (
            "path `Yq7\"\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}` is odd",
            "path `***` is odd",
        ),
        ("the name `Xq7-S` stays", "the name `Xq7-S` stays"),
        ("Xq7… and ab… stay", "Xq7… and ab… stay"),
    ] {
        assert_eq!(without(message, &secrets), wanted);
    }
    let many: Vec<String> =
        (0..1000).map(|i| format!("Xq7-S3CR3T{i}")).chain(["a".repeat(100_000)]).collect();
    let since = std::time::Instant::now();
    for hostile in ["Xq7-S…".repeat(50_000), "a".repeat(50_000), "aaaaaaaaaab".repeat(20_000)] {
        let said = without(&hostile, &many);
        assert!(!said.contains("Xq7") && !said.contains("aaaaaaaaaaaaaaaaaaaaaaaa"));
    }
    assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn by_name_in_json_within_a_text() {
    for text_of in [
        r#"{"passwords":["S3CR3T"],"credentials":{"user":"S3CR3T","value":"S3CR3T"}}"#,
        "found:\n  {\"password\": {\"v\": \"S3CR3T\"}, \"n\": 1}\nand more",
        r#"so "password":["S3CR3T", "S3CR3T"], "n":1"#,
        r#"so "password":{"v":"a\"]}S3CR3T"}, "n":1"#,
        r#"so \"password\":[\"a\\\"]S3CR3T\"], \"n\":1"#,
        "password: |\n  S3CR3T\n  S3CR3T\nuser: me\n",
        "a:\n  - password: >-\n      S3CR3T\n\n      S3CR3T\n    user: me\n",
        "machine h login u password S3CR3T\n",
        "machine h\n  login u\n  password S3CR3T\n",
    ] {
        let source = serde_json::json!({ "text": text_of, "more": [text_of] }).to_string();
        for cleaned in [redacted(&source), text(text_of).into_owned()] {
            assert!(!cleaned.contains("S3CR3T") && cleaned.contains(MARK), "{text_of}: {cleaned}");
            assert_eq!(
                cleaned.contains("me\\n") || cleaned.contains("me\n"),
                text_of.contains("me\n"),
                "{cleaned}"
            );
        }
    }
    for harmless in [
        r#"{"token":{"type":"string","maxLength":3}}"#,
        "the password is | or >",
        "tokens: [1, 2, 3]",
        "password: []",
        "enter your password here",
    ] {
        assert_eq!(text(harmless), harmless);
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    for piece in [
        "password:|",
        "password:[",
        "tokens:[1",
        "password: |\n",
        "{\"password\":[\n",
        "key",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "token=",
        "a&b=",
        "\\\"password\\\":",
        "secret ",
    ] {
        let took = |bytes: usize| {
            let long = piece.repeat(bytes / piece.len());
            let start = std::time::Instant::now();
            let _ = text(&long);
            let _ = text(&format!("token={long}"));
            start.elapsed()
        };
        let (one, ten) = (took(50_000), took(500_000));
        assert!(
            ten < one * 40 + std::time::Duration::from_millis(200),
            "{piece}: {one:?}, ten times as long {ten:?}"
        );
    }
}

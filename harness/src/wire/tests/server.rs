//! What of the server's is kept from the client, and whom that concerns.

use framegate_pump::envelope::peek;

use super::*;

fn judge(line: impl AsRef<[u8]>) -> Result<ServerFrame, (Reason, Vec<String>)> {
    let frame = frame(line);
    let ids = |dropped: &Dropped| dropped.answers.iter().map(|id| id.json().to_owned()).collect();
    server_frame(&frame, peek(frame.body()).kind).map_err(|dropped| (dropped.reason, ids(&dropped)))
}

fn noise(answers: Option<&str>) -> Result<ServerFrame, (Reason, Vec<String>)> {
    Ok(ServerFrame::Noise { answers: answers.and_then(framegate_pump::Id::from_json) })
}

#[test]
fn what_is_inside_a_result_is_the_servers_affair() {
    let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"__proto__":1e999}}"#,
        r#"{"id":1.0,"error":{"code":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        &deep,
    ] {
        assert_eq!(judge(line), Ok(ServerFrame::Message), "{line}");
        assert_eq!(judge(format!("{line}\r\n")), Ok(ServerFrame::Message), "{line}");
    }
}

#[test]
fn lines_that_are_no_json_pass_and_say_which_call_they_may_answer() {
    for line in ["Server started", "7", "\"x\"", "{\"id\":1,", "[INFO] up", "", " \t", "{}}"] {
        assert_eq!(judge(line), noise(None), "{line}");
    }
    assert_eq!(judge(r#"{"jsonrpc":"2.0","id":5,"result":{"n":NaN}}"#), noise(Some("5")));
    assert_eq!(judge(r#"{"result":{"n":[Infinity,"\"id\":9"]},"id":"x"}"#), noise(Some("\"x\"")));
    assert_eq!(judge(r#"{"id":5,"method":"a","params":NaN}"#), noise(None));
}

#[test]
fn what_could_be_another_message_is_dropped_and_the_open_request_named() {
    for (line, reason, ids) in [
        (&b"{\"id\":1,\"result\":{\r}}"[..], Reason::BareCarriageReturn, &["1"][..]),
        (b"{\"id\":1,\"result\":{}}\r\r\n", Reason::BareCarriageReturn, &["1"]),
        (b"10%\r20%", Reason::BareCarriageReturn, &[]),
        (b"x\r{\"id\":1,\"result\":{}}\r", Reason::BareCarriageReturn, &[]),
        (b"[1,\r2]", Reason::BareCarriageReturn, &[]),
        (b"{\"id\":1,\"result\":\"\xff\"}", Reason::Utf8, &["1"]),
        (b"\xff\xfe", Reason::Utf8, &[]),
        (b"\xef\xbb\xbf{\"id\":1,\"result\":{}}", Reason::ByteOrderMark, &["1"]),
        (b"{\"id\":1,\"id\":2,\"result\":{}}", Reason::DuplicateKey, &["1", "2"]),
        (b"{\"id\":1,\"result\":{},\"result\":{}}", Reason::DuplicateKey, &["1"]),
        (b"{\"id\":1,\"Id\":2,\"result\":{}}", Reason::LookAlike, &["1", "2"]),
        (b"{\"id\":1,\"Result\":{}}", Reason::LookAlike, &["1"]),
        (b"{\"id\":1,\"method\":\"ping\",\"result\":{}}", Reason::Hybrid, &["1"]),
        (b"{\"id\":1,\"result\":{},\"error\":{}}", Reason::Hybrid, &["1"]),
        // A request of the server's own says nothing about ours.
        (b"{\"id\":1,\"method\":\"ping\",\"method\":\"x\"}", Reason::DuplicateKey, &[]),
        (b"{\"id\":null,\"result\":{}}", Reason::Id, &[]),
        (b"{\"id\":1,\"method\":[]}", Reason::Method, &[]),
        (b"{\"id\":1}", Reason::NoMessage, &["1"]),
        (
            b"[{\"id\":1,\"result\":{}},{\"id\":2,\"method\":\"ping\"},{\"id\":3,\"error\":{}},7]",
            Reason::Batch,
            &["1", "3"],
        ),
        (b"[]", Reason::Batch, &[]),
    ] {
        let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
        assert_eq!(judge(line), Err((reason, ids)), "{}", line.escape_ascii());
    }
}

#[test]
fn a_blank_line_is_noise() {
    assert_eq!(judge(" \r "), noise(None));
}

//! One rule each: what it refuses, with which code and for whom, and what stands just beside it and passes.

use super::*;

fn refused_for(reason: Reason, line: &str) -> Refusal {
    let refusal = refused(line);
    assert_eq!(refusal.reason, reason, "{line}: {}", refusal.message);
    assert!(refusal.message.starts_with("not sent to the server: "));
    refusal
}

fn message(rest: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,{rest}}}"#)
}

#[test]
fn messages_of_all_kinds_are_read() {
    let request = accepted(message(r#""method":"resources/read","params":{"uri":"file:///a"}"#));
    assert_eq!((request.kind(), request.method()), (MessageKind::Request, Some("resources/read")));
    assert_eq!(request.id().unwrap().raw(), "7");
    assert!(request.call().is_none());
    let note = accepted(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(
        (note.kind(), note.id().is_none(), note.params().is_none()),
        (MessageKind::Notification, true, true)
    );
    let answer = accepted(message(r#""result":{"action":"accept"}"#));
    assert_eq!((answer.kind(), answer.result().unwrap().len()), (MessageKind::Response, 1));
    for error in [
        r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}"#,
    ] {
        let answer = accepted(error);
        assert_eq!((answer.kind(), answer.error().unwrap().len()), (MessageKind::Response, 2));
        assert!(answer.id().is_none_or(|id| id.raw() == "1.5"));
    }
}

#[test]
fn blank_lines_are_nothing() {
    for line in ["", "\n", "\r\n", " \t\n", "\r\r\n", " \r \r\n"] {
        assert!(matches!(read(line), Ok(None)), "{line:?}");
    }
}

#[test]
fn the_end_of_a_line_may_be_lf_crlf_or_missing() {
    for end in ["", "\n", "\r\n"] {
        let line = call(r#"{"name":"a"}"#) + end;
        let read = accepted(&line);
        assert_eq!(read.document().source().len(), line.len() - end.len());
    }
    for end in ["\r", "\r\r\n"] {
        refused_for(Reason::BareCarriageReturn, &(call(r#"{"name":"a"}"#) + end));
    }
}

#[test]
fn a_call_has_a_name_and_maybe_arguments() {
    for (params, arguments) in [
        (r#"{"name":"a"}"#, None),
        (r#"{"name":"a","arguments":null}"#, None),
        (r#"{"name":"\u0061","arguments":{}}"#, Some("{}")),
        (r#"{"arguments":{"n":1.10},"name":"a"}"#, Some(r#"{"n":1.10}"#)),
    ] {
        let read = accepted(call(params));
        let call = read.call().unwrap();
        assert_eq!((call.name, call.arguments.map(|value| value.raw())), ("a", arguments), "{params}");
        assert!(call.task.is_none());
    }
    let task = accepted(call(r#"{"name":"a","task":{"ttl":1}}"#));
    assert_eq!(task.call().unwrap().task.unwrap().raw(), r#"{"ttl":1}"#);
    for (reason, params) in [
        (Reason::ToolName, r#"{"arguments":{}}"#),
        (Reason::ToolName, r#"{"name":1}"#),
        (Reason::ToolName, r#"{"name":null}"#),
        (Reason::ToolName, r#"{"name":["a"]}"#),
        (Reason::Arguments, r#"{"name":"a","arguments":"{}"}"#),
        (Reason::Arguments, r#"{"name":"a","arguments":[]}"#),
        (Reason::Arguments, r#"{"name":"a","arguments":false}"#),
        (Reason::Params, "[]"),
        (Reason::Params, "null"),
        (Reason::Params, r#""a""#),
    ] {
        let refusal = refused_for(reason, &call(params));
        assert_eq!((refusal.code, told(&refusal)), (-32602, vec!["7".to_owned()]), "{params}");
    }
    refused_for(Reason::Params, &message(r#""method":"tools/call""#));
    refused_for(Reason::Params, &message(r#""method":"ping","params":7"#));
    accepted(message(r#""method":"ping","params":[1]"#));
}

#[test]
fn a_call_that_nobody_waits_for_is_refused_in_silence() {
    let line = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#;
    let refusal = refused_for(Reason::NoId, line);
    assert_eq!((refusal.subject.clone(), refusal.errors().len()), (Subject::Notification, 0));
    let null = refused_for(Reason::Id, &line.replace(r#""method""#, r#""id":null,"method""#));
    assert_eq!(told(&null), ["null"]);
}

#[test]
fn look_alikes_of_the_messages_keys_are_refused_even_alone() {
    for members in [
        r#""method":"ping","Method":"tools/call""#,
        r#""Method":"tools/call","params":{"name":"a"}"#,
        r#""method":"ping","PARAMS":{}"#,
        r#""method":"ping","param\u017f":{}"#,
        r#""method":"ping","id\u0000":1"#,
        r#""method":"ping","\u200bid":1"#,
        r#""method":"ping","ｉd":1"#,
        r#""method":"ping","x":1,"X":2"#,
        r#""method":"ping","é":1"#,
    ] {
        let refusal = refused_for(Reason::LookAlike, &message(members));
        assert_eq!(refusal.code, -32600);
    }
    // Another key for all that were tried, and plain extensions.
    for members in [r#""method":"ping","method ":1"#, r#""method":"ping","x":1,"trace-id":2"#] {
        accepted(message(members));
    }
}

#[test]
fn look_alikes_of_keys_in_params_are_refused_even_alone() {
    for params in [
        r#"{"Name":"b"}"#,
        r#"{"name":"a","Name":"b"}"#,
        r#"{"name":"a","name\u0000":"b"}"#,
        r#"{"name":"a","n\u0430me\u0007":"b"}"#,
        r#"{"name":"a","ARGUMENTS":{}}"#,
        r#"{"name":"a","arguments\u200d":{}}"#,
        r#"{"name":"a","ａrguments":{}}"#,
        r#"{"name":"a","argument\u017f":{}}"#,
        r#"{"name":"a","Task":{}}"#,
        r#"{"name":"a","_Meta":{}}"#,
        r#"{"name":"a","name ":"b"}"#,
        r#"{"name":"a","x":1,"X":1}"#,
    ] {
        let refusal = refused_for(Reason::LookAlike, &call(params));
        assert_eq!(told(&refusal), ["7"], "{params}");
    }
    refused_for(Reason::LookAlike, &message(r#""method":"resources/read","params":{"URI":"file:///x"}"#));
    // Inside the arguments a tool's own names rule.
    accepted(call(r#"{"name":"a","arguments":{"Name":1,"name":2,"é":3}}"#));
}

#[test]
fn a_method_that_could_be_taken_for_a_call_is_unknown() {
    for method in ["Tools/Call", "tools/call ", "tools/call\\u0000", "tool\\u017f/call", "tools\u{200b}/call"]
    {
        let refusal = refused_for(Reason::LookAlike, &message(&format!(r#""method":"{method}""#)));
        assert_eq!(refusal.code, -32601);
    }
    for method in ["tools/calls", "xtools/call", "tools/list", ""] {
        accepted(message(&format!(r#""method":"{method}""#)));
    }
}

#[test]
fn keys_that_javascript_and_c_readers_take_otherwise_are_refused_at_any_depth() {
    for (reason, params) in [
        (Reason::Prototype, r#"{"name":"a","__proto__":{"arguments":{"m":1}}}"#),
        (Reason::Prototype, r#"{"name":"a","arguments":{"x":[{"__prot\u006f__":1}]}}"#),
        (Reason::LookAlike, r#"{"name":"a","arguments":{"path\u0000":1}}"#),
    ] {
        refused_for(reason, &call(params));
    }
    accepted(call(r#"{"name":"a","arguments":{"text":"__proto__","proto":"\u0000"}}"#));
}

#[test]
fn a_message_is_a_request_or_an_answer() {
    for members in [
        r#""method":"ping","result":{}"#,
        r#""result":{},"method":"ping""#,
        r#""method":"ping","error":{}"#,
        r#""result":{},"error":{}"#,
    ] {
        refused_for(Reason::Hybrid, &message(members));
    }
    for members in [r#""params":{}"#, r#""error":7"#] {
        refused_for(Reason::NoMessage, &message(members));
    }
    for method in ["null", "7", r#"["tools/call"]"#, "{}"] {
        refused_for(Reason::Method, &message(&format!(r#""method":{method}"#)));
    }
    for version in
        ["", r#""jsonrpc":"1.0","#, r#""jsonrpc":2.0,"#, r#""jsonrpc":"2.0 ","#, r#""jsonrpc":null,"#]
    {
        let refusal = refused_for(Reason::Version, &format!(r#"{{{version}"id":7,"method":"ping"}}"#));
        assert_eq!(told(&refusal), ["7"]);
    }
    for (line, reason) in
        [("7", Reason::NotObject), (r#""x""#, Reason::NotObject), ("null", Reason::NotObject)]
    {
        assert_eq!(told(&refused_for(reason, line)), ["null"]);
    }
}

#[test]
fn an_id_is_a_string_or_an_integer_that_every_peer_can_hold() {
    for id in ["0", "7", "-7", "9007199254740991", "-9007199254740991", r#""""#, r#""a\u0062""#, r#""5""#] {
        accepted(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }
    for (id, told_as) in [
        ("9007199254740992", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("7.0", "7.0"),
        ("7.5", "7.5"),
        ("7e0", "7.0"),
        ("-0", "-0.0"),
        ("null", "null"),
        ("true", "null"),
        ("[7]", "null"),
        (r#"{"a":1}"#, "null"),
    ] {
        let refusal = refused_for(Reason::Id, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!((refusal.code, told(&refusal)), (-32600, vec![told_as.to_owned()]), "{id}");
    }
    refused_for(Reason::Id, r#"{"jsonrpc":"2.0","id":null,"result":{}}"#);
    refused_for(Reason::Id, r#"{"jsonrpc":"2.0","result":{}}"#);
}

#[test]
fn the_limits_bind_just_above_their_number() {
    let small = Limits { call_bytes: 100, depth: 5, id_bytes: 10, ..Limits::default() };
    let sized = |bytes: usize| {
        let line = call(r#"{"name":""}"#);
        line.replace(r#""name":"""#, &format!(r#""name":"{}""#, "x".repeat(bytes - line.len())))
    };
    let deep = |depth: usize| {
        let inner = depth - 3;
        call(&format!(r#"{{"name":"a","arguments":{{"x":{}{}}}}}"#, "[".repeat(inner), "]".repeat(inner)))
    };
    let long_id =
        |bytes: usize| format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(bytes - 2));
    for (line, fits) in [
        (sized(99), None),
        (sized(100), None),
        (sized(101), Some(Reason::Size)),
        (deep(4), None),
        (deep(5), None),
        (deep(6), Some(Reason::Depth)),
        (long_id(9), None),
        (long_id(10), None),
        (long_id(11), Some(Reason::Id)),
    ] {
        let outcome = client_frame(&frame(&line), &small);
        let refusal = outcome.as_ref().err();
        assert_eq!(refusal.map(|refusal| refusal.reason), fits, "{line}");
        assert!(refusal.is_none_or(|refusal| told(refusal).len() == 1 && refusal.id().is_some()), "{line}");
    }
    // The defaults: 64 levels, 256 bytes.
    assert!(read(deep(64)).is_ok());
    assert_eq!(told(&refused_for(Reason::Depth, &deep(65))), ["7"]);
    assert!(read(long_id(256)).is_ok() && read(long_id(257)).is_err());
}

#[test]
fn numbers_that_servers_read_differently_are_refused() {
    for number in ["1e309", "-1e309", "1e10000", &"9".repeat(309), &format!("{}.5", "9".repeat(400))] {
        let refusal = refused_for(
            Reason::NumberRange,
            &call(&format!(r#"{{"name":"a","arguments":{{"n":{number}}}}}"#)),
        );
        assert_eq!((refusal.code, told(&refusal)), (-32602, vec!["7".to_owned()]));
    }
    for number in
        ["1e308", "1e-400", "1.7976931348623157e308", &"9".repeat(308), &format!("0.{}", "1".repeat(400))]
    {
        accepted(call(&format!(r#"{{"name":"a","arguments":{{"n":{number}}}}}"#)));
    }
    for number in [&"1".repeat(1001), "1e10001", "1e-10001"] {
        refused_for(Reason::NumberRange, &call(&format!(r#"{{"name":"a","arguments":{{"n":{number}}}}}"#)));
    }
}

#[test]
fn each_request_of_a_batch_gets_its_error() {
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let two = r#"{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"a","name":"b"}}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
    for (line, ids) in [
        (format!("[{one},{two},{note},{answer}]"), vec!["1", r#""b""#]),
        (format!(" [{one}] "), vec!["1"]),
        (format!("[{note}]"), vec!["null"]),
        (format!("[[{one}]]"), vec!["null"]),
        ("[]".to_owned(), vec!["null"]),
        (r#"["2.0",7,"tools/call"]"#.to_owned(), vec!["null"]),
    ] {
        let refusal = refused_for(Reason::Batch, &line);
        assert_eq!(
            (refusal.code, told(&refusal)),
            (-32600, ids.into_iter().map(str::to_owned).collect()),
            "{line}"
        );
    }
    assert_eq!(refused_for(Reason::NotJson, &format!("[{one},]")).errors().len(), 1);
    assert_eq!(refused_for(Reason::BareCarriageReturn, &format!("[\r{one}]")).errors().len(), 1);
    let many = format!("[{}]", vec![one; 5000].join(","));
    assert_eq!(refused_for(Reason::Batch, &many).errors().len(), 4096);
}

#[test]
fn text_that_is_no_json_says_where() {
    for (reason, code, body) in [
        (Reason::ByteOrderMark, -32700, "\u{feff}{}".to_owned()),
        (Reason::ControlByte, -32700, call("{\"name\":\"a\tb\"}")),
        (Reason::LoneSurrogate, -32700, call(r#"{"name":"\ud800"}"#)),
        (Reason::NotJson, -32700, call("NaN")),
        (Reason::DuplicateKey, -32600, call(r#"{"name":"a","arguments":{"m":1,"\u006d":2}}"#)),
    ] {
        let refusal = refused_for(reason, &body);
        assert_eq!(refusal.code, code);
        assert!(refusal.message.contains("at byte "), "{}", refusal.message);
    }
    let bad = [call(r#"{"name":"#).as_bytes(), b"\"\xff\"}}"].concat();
    assert_eq!(refused(&bad).reason, Reason::Utf8);
}

//! Tools that are injected and hidden.

use super::*;

/// Injects `own` and hides what begins with `hidden`.
#[derive(Debug)]
struct Own;

const OWN: &str = r#"{"name":"own","inputSchema":{"type":"object"}}"#;

impl ToolInjector for Own {
    fn tools(&self) -> Vec<InjectedTool> {
        vec![InjectedTool { name: "own".into(), json: OWN.into() }]
    }

    fn is_visible(&self, name: &str) -> bool {
        !name.starts_with("hidden")
    }

    fn call(&self, request: &Request) -> Verdict {
        verdict_of(request.param("verdict").unwrap_or_default().trim_matches('"'), request)
    }
}

fn rig() -> Rig {
    Rig::with(Script::new(true, Odd::All), Some(Arc::new(Own)), None)
}

fn own_call(id: &str, verdict: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"own","verdict":"{verdict}","arguments":{{"n":1.0}}}}}}"#
    )
}

fn list(id: &str, params: &str) -> String {
    format!(r#"{{"id":{id},"method":"tools/list"{params}}}"#)
}

fn listing(id: &str, tools: &str, rest: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]{rest}}}}}"#)
}

const A: &str = r#"{"name":"a"}"#;

#[test]
fn an_injected_tool_is_listed_once_on_the_first_page() {
    for (id, params, is_first) in [
        ("1", "", true),
        (r#""x""#, r#","params":{}"#, true),
        ("2.0", r#","params":{"_meta":{"cursor":"1"}}"#, true),
        ("3", r#","params":{"cursor":null}"#, true),
        ("4", r#","params":{"cursor":"2"}"#, false),
        ("5", r#","params":{"cursor":""}"#, false),
    ] {
        let mut rig = rig();
        assert_eq!(rig.client(&list(id, params)), [to_server(list(id, params))]);
        let want = if is_first { listing(id, &format!("{A},{OWN}"), "") } else { listing(id, A, "") };
        assert_eq!(rig.server(&listing(id, A, "")), [to_client(want)], "{params}");
    }
}

#[test]
fn a_listing_under_a_renamed_id_is_edited_too() {
    let mut rig = rig();
    rig.client(&list(r#""framegate-t-x""#, ""));
    let outs = rig.server(&listing(r#""framegate-t-r1""#, "", ""));
    assert_eq!(outs, [to_client(listing(r#""framegate-t-x""#, OWN, ""))]);
}

#[test]
fn an_injected_tool_is_called_here() {
    for id in ["1", r#""x""#] {
        let mut rig = rig();
        assert_eq!(rig.client(&own_call(id, "answer")), [to_client(refusal(id))]);
        assert_eq!(rig.told(), [], "the interceptor is not asked");
    }
}

#[test]
fn an_injected_call_in_another_spelling_is_called_here() {
    let line = r#"{"id":1,"m\u0065thod":"tools\/call","params":{"n\u0061me":"\u006fwn","verdict":"answer"}}"#;
    assert_eq!(rig().client(line), [to_client(refusal("1"))]);
}

#[test]
fn an_injected_call_can_be_held() {
    let mut rig = rig();
    let held = rig.hold(&own_call("1", "person"));
    assert_eq!(rig.client(&call("2", "forward")).len(), 1);
    let answer = Frame::line(refusal("1").as_bytes());
    assert_eq!(rig.settle(held, Verdict::Answer(answer)), [to_client(refusal("1"))]);
}

#[test]
fn what_an_injector_forwards_falls_to_the_interceptor() {
    let mut rig = rig();
    assert_eq!(rig.client(&own_call("1", "forward")), [to_server(own_call("1", "forward"))]);
    assert_eq!(rig.told(), [Told::Asked("1".into())]);
    let held = rig.hold(&own_call("2", "person"));
    assert_eq!(rig.told(), []);
    assert_eq!(rig.settle(held, Verdict::Forward), [to_server(own_call("2", "person"))]);
    assert_eq!(rig.told(), [Told::Asked("2".into())]);
}

#[test]
fn what_an_injector_edits_is_judged_as_it_will_be_sent() {
    let mut rig = rig();
    let call = own_call("1", "replace");
    assert_eq!(rig.client(&call), [to_server(edited(&call))]);
    assert_eq!(rig.told(), [Told::Asked("1".into())]);
}

#[test]
fn an_interceptor_is_not_told_the_end_of_what_it_never_saw() {
    let mut rig = rig();
    rig.hold(&own_call("1", "person"));
    rig.client(&cancel("1"));
    rig.hold(&own_call("2", "machine"));
    rig.run(|router, fx| router.peer_gone(Side::Server, Some(&RpcError::new(1, "gone")), fx));
    assert_eq!(rig.told(), []);
}

#[test]
fn a_servers_tool_under_an_injected_name_is_hidden_and_reported() {
    let mut rig = rig();
    rig.client(&list("1", r#","params":{"cursor":"2"}"#));
    let outs = rig.server(&listing("1", &format!(r#"{{"name":"\u006fwn"}},{A}"#), ""));
    assert_eq!(outs, [to_client(listing("1", A, ""))], "on later pages too");
    assert!(rig.eye.take().contains(&r#"ToolShadowed { name: "own" }"#.to_owned()));
}

#[test]
fn a_hidden_tool_is_hidden_on_every_page_and_the_listing_is_private_then() {
    for (params, own) in [("", OWN), (r#","params":{"cursor":"2"}"#, "")] {
        let mut rig = rig();
        rig.client(&list("1", params));
        let outs = rig.server(&listing("1", r#"{"name":"hidden_x"}"#, r#","cacheScope":"public","ttlMs":5"#));
        assert_eq!(outs, [to_client(listing("1", own, r#","cacheScope":"private","ttlMs":5"#))]);
    }
}

#[test]
fn a_listing_that_was_not_changed_stays_public() {
    let mut rig = rig();
    rig.client(&list("1", r#","params":{"cursor":"2"}"#));
    let line = listing("1", A, r#","cacheScope":"public""#);
    assert_eq!(rig.server(&line), [to_client(line.clone())]);
}

#[test]
fn a_listing_that_cannot_be_read_for_certain_is_an_error() {
    let mut rig = rig();
    rig.client(&list("1", ""));
    let outs = rig.server(r#"{"id":1,"result":{"tools":[],"tools":[{"name":"hidden"}]}}"#);
    assert_eq!(outs.len(), 1);
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("1".into(), RpcError::INTERNAL)));
}

#[test]
fn an_error_answer_to_a_listing_passes() {
    let mut rig = rig();
    rig.client(&list("1", ""));
    let line = r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#;
    assert_eq!(rig.server(line), [to_client(line)]);
}

#[test]
fn a_servers_own_call_of_that_name_is_not_ours() {
    let mut rig = rig();
    assert_eq!(rig.server(&own_call("1", "answer")), [to_client(own_call("1", "answer"))]);
}

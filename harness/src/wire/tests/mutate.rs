use super::*;

#[test]
fn what_is_accepted_the_pump_takes_for_the_same_message() {
    for line in [
        call(r#"{"name":"a"}"#),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"method ":"ping"}"#.to_owned(),
    ] {
        super::super::assert_reads_strictly(line.as_bytes());
    }
}

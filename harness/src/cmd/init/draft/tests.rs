use super::*;

fn draft(tools: &str, has_resources: bool) -> Draft {
    let page = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#);
    let mut listed = Vec::new();
    listing::page(page.as_bytes(), &mut listed).unwrap();
    let tools = once(listed);
    let folders = vec!["/work".into(), "/with: \"odd\" # name".into()];
    Draft { file: "my.yaml".into(), command: "server .".into(), tools, folders, has_resources }
}

fn tool(name: &str, properties: &str, required: &str, reads: bool) -> String {
    let name = serde_json::Value::from(name);
    format!(
        r#"{{"name":{name},"description":"One\u2028two: \u0007 # three\nfour","inputSchema":{{"type":"object","properties":{{{properties}}},"required":[{required}]}},"annotations":{{"readOnlyHint":{reads}}}}}"#
    )
}

/// What is wrong with a draft beside its own listing.
fn errors(draft: &Draft) -> Vec<String> {
    let text = draft.text();
    let loaded = Policy::load("p", text.as_bytes(), &mut |_| Err(String::new()));
    let loaded = loaded.unwrap_or_else(|why| panic!("{why}\n{text}"));
    let listed = draft.tools.iter().map(|tool| Listed {
        name: &tool.name,
        schema: tool.definition.as_ref().and_then(|tool| tool.root().get("inputSchema")),
    });
    let (_, problems) = loaded.policy.bind("server", &Listing::of(listed.collect()));
    problems.iter().filter(|p| p.severity() == Severity::Error).map(ToString::to_string).collect()
}

#[test]
fn what_only_reads_is_let_through_under_rules_for_its_paths() {
    let path = r#""path":{"type":"string"}"#;
    let tools = [
        tool("read", path, r#""path""#, true),
        tool("read_all", r#""paths":{"type":"array","items":{"type":"string"}}"#, "", true),
        tool("fetch", r#""url":{"type":"string"}"#, r#""url""#, true),
        tool("move", r#""source":{"type":"string"}"#, r#""source""#, false),
    ];
    let draft = draft(&tools.join(","), true);
    let text = draft.text();
    for line in [
        "\n  read: {}                     # One\u{fffd}two: \u{fffd} # three\n",
        "\n  # move: {}                     # (with the rule source_inside below) One\u{fffd}two",
        "\n    that: within(args.path, \"/work\", ",
        "\n    when: has(args.paths)\n    that: args.paths.all(one, within(one, \"/work\", ",
        "\n  # put the addresses here that may be used\n  - name: url_address\n    that: url_within(args.url, [\"https://example.com/\"])\n",
        "\n  # - name: source_inside\n  #   that: ",
        "\n# surface: tools\n",
    ] {
        let unquoted = text.replace("that: \"", "that: ").replace("\\\"", "\"");
        assert!(unquoted.contains(line), "{line}\n{text}");
    }
    assert_eq!(errors(&draft), Vec::<String>::new(), "{text}");
}

#[test]
fn a_draft_for_any_listing_has_no_errors() {
    let (path, list) =
        (r#""path":{"type":"string"}"#, r#""path":{"type":"array","items":{"type":"number"}}"#);
    let names =
        ["a: b", "true", "x/y", "wr*te", "", "ünï", "- x", "\n", "#", "{}", "007", "*", "a/", "/", "<<"];
    let mut tools: Vec<String> = names.iter().map(|name| tool(name, path, "", true)).collect();
    tools.extend([tool("twice", path, "", true), tool("twice", list, "", true)]);
    tools.push(tool(&"n".repeat(400), path, "", true));
    tools.push(r#"{"name":"dup","x":1,"x":2}"#.into());
    assert_eq!(errors(&draft(&tools.join(","), false)), Vec::<String>::new());
    tools.push(tool("list", &list.replace("number", "string"), "", true));
    let mixed = draft(&tools.join(","), false);
    assert_eq!(errors(&mixed), Vec::<String>::new(), "{}", mixed.text());
    let text = mixed.text();
    assert!(
        text.contains("\n  - name: path_list_inside\n    tools: [list]\n"),
        "each by its own type: {text}"
    );
    assert!(text.contains("\n  - name: path_inside\n    tools: ["), "{text}");
    tools.push(tool("numbers", list, "", true));
    let mixed = draft(&tools.join(","), false);
    assert_eq!(errors(&mixed), Vec::<String>::new(), "{}", mixed.text());
    assert_eq!(errors(&draft("", true)), Vec::<String>::new());
    assert_eq!(errors(&draft(&tool("w", path, "", false), true)), Vec::<String>::new());
    assert!(Policy::load("p", blank("my.yaml").as_bytes(), &mut |_| Err(String::new())).is_ok());
}

#[test]
fn a_draft_names_the_file_that_it_is_written_to() {
    for text in [draft(&tool("t", "", "", true), false).text(), blank("my.yaml")] {
        assert!(text.contains("framegate check my.yaml -- "), "{text}");
        assert!(text.contains("framegate run --policy my.yaml -- "), "{text}");
        assert!(!text.contains("framegate.yaml"), "{text}");
    }
}

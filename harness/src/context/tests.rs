use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use framegate_guard::messages::Role;

use super::*;

struct Written {
    folder: tempfile::TempDir,
}

impl Written {
    fn new() -> Written {
        Written { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("context.jsonl")
    }

    fn append(&self, text: &str) {
        let mut file = File::options().create(true).append(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn user(text: &str) -> String {
    format!("{{\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n")
}

fn texts(look: &Look) -> Vec<&str> {
    look.messages.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn what_is_appended_is_heard_once_and_in_order() {
    let written = Written::new();
    let mut file = ContextFile::follow(&written.path()).unwrap();
    let look = file.look();
    assert!(!look.is_whole && look.messages.is_empty(), "no file: nothing is known of the user");
    assert!(look.warnings[0].contains("what the user said is unknown"), "{:?}", look.warnings);
    assert_eq!(file.look().warnings, [""; 0], "said once");
    written.append(&(user("one") + &user("two")));
    let look = file.look();
    assert_eq!((texts(&look), look.is_whole), (vec!["one", "two"], true));
    assert_eq!(look.messages[0].role, Role::User);
    let nothing = file.look();
    assert!(nothing.messages.is_empty() && nothing.is_whole);
    written.append("# a comment\n\n");
    written.append(&user("three"));
    assert_eq!(texts(&file.look()), ["three"]);
}

#[test]
fn a_line_counts_when_it_has_ended() {
    let written = Written::new();
    let line = user("pay ACC-7");
    let (head, tail) = line.split_at(20);
    written.append(head);
    let mut file = ContextFile::follow(&written.path()).unwrap();
    assert!(file.look().messages.is_empty());
    written.append(tail);
    assert_eq!(texts(&file.look()), ["pay ACC-7"]);
}

#[test]
fn a_line_that_cannot_be_read_is_told_with_its_place_and_loses_no_other() {
    let written = Written::new();
    written.append(&user("one"));
    written.append(
        "{\"message\":{\"role\":\"user\",\"role\":\"user\",\"content\":\"x\"}}\n{\"facts\":{}}\nnot JSON\n",
    );
    written.append(&user("two"));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    let look = file.look();
    assert_eq!(texts(&look), ["one", "two"]);
    let places: Vec<bool> =
        (2..5).map(|line| look.warnings.iter().any(|w| w.contains(&format!("jsonl:{line}: ")))).collect();
    assert_eq!((places, look.warnings.len()), (vec![true; 3], 3), "{:?}", look.warnings);
}

#[test]
fn a_message_that_says_nothing_is_told() {
    let written = Written::new();
    written.append("{\"message\":{\"role\":\"usr\",\"content\":\"pay\"}}\n");
    written.append("{\"message\":{\"role\":\"user\",\"contents\":\"pay\"}}\n");
    let look = ContextFile::follow(&written.path()).unwrap().look();
    assert_eq!((look.messages.len(), look.warnings.len()), (0, 2), "{look:?}");
    assert!(look.warnings.iter().all(|warning| warning.contains("it says nothing")), "{look:?}");
}

#[test]
fn a_line_at_the_limit_is_read_and_one_byte_more_is_not() {
    let written = Written::new();
    let frame = user("").len();
    written.append(&user(&"x".repeat(LINE_BYTES_MAX - frame - 1)));
    written.append(&user(&"x".repeat(LINE_BYTES_MAX - frame)));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    let look = file.look();
    assert_eq!(look.messages.len(), 2, "{:?}", look.warnings);
    written.append(&user(&"x".repeat(LINE_BYTES_MAX - frame + 1)));
    written.append(&user("after"));
    let look = file.look();
    assert_eq!(texts(&look), ["after"]);
    assert!(look.warnings[0].contains("more than 4194304 bytes"), "{:?}", look.warnings);
}

#[test]
fn while_more_is_left_than_one_look_reads_the_user_is_not_known() {
    let written = Written::new();
    let line = user(&"x".repeat(1024 * 1024));
    for _ in 0..9 {
        written.append(&line);
    }
    let mut file = ContextFile::follow(&written.path()).unwrap();
    let first = file.look();
    assert!(!first.is_whole && first.messages.len() == 7, "{}", first.messages.len());
    let second = file.look();
    assert!(second.is_whole && second.messages.len() == 2, "{}", second.messages.len());
}

#[test]
fn a_file_that_is_replaced_or_cut_is_read_from_its_start() {
    let written = Written::new();
    written.append(&(user("one") + "{\"mess"));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    file.look();
    std::fs::write(written.path(), user("two")).unwrap();
    let look = file.look();
    assert_eq!(texts(&look), ["two"]);
    assert!(look.warnings[0].contains("replaced or cut"), "{:?}", look.warnings);
    let other = written.folder.path().join("other");
    std::fs::write(&other, user("a longer third line than before")).unwrap();
    std::fs::rename(other, written.path()).unwrap();
    assert_eq!(texts(&file.look()), ["a longer third line than before"]);
}

#[test]
fn who_else_may_speak_for_the_user_is_said() {
    let written = Written::new();
    written.append(&user("one"));
    std::fs::set_permissions(written.path(), std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut file = ContextFile::follow(&written.path()).unwrap();
    let look = file.look();
    assert!(look.warnings[0].contains("mode 666"), "{:?}", look.warnings);
    assert_eq!(file.look().warnings.len(), 0, "said once");
}

#[test]
fn what_is_no_file_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let said = ContextFile::follow(folder.path()).unwrap_err();
    assert!(said.contains("is no regular file"), "{said}");
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    assert!(ContextFile::follow(&pipe).is_err());
}

#[test]
fn a_pipe_in_its_place_is_not_waited_for() {
    let written = Written::new();
    written.append(&user("one"));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    assert!(file.look().is_whole);
    std::fs::remove_file(written.path()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, written.path(), rustix::fs::Mode::RUSR).unwrap();
    let look = file.look();
    assert!(!look.is_whole && look.warnings[0].contains("no regular file any more"), "{look:?}");
}

#[test]
fn another_text_in_the_same_place_is_another_file() {
    let written = Written::new();
    written.append(&user("one"));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    file.look();
    // The same inode, and longer.
    std::fs::write(written.path(), user("two") + &user("three")).unwrap();
    let look = file.look();
    assert_eq!(texts(&look), ["two", "three"]);
    assert!(look.warnings[0].contains("replaced or cut"), "{look:?}");
}

#[test]
fn a_line_that_cannot_be_read_may_have_been_a_no() {
    let written = Written::new();
    written.append(&(user("pay ACC-7") + "{\"message\":{\"role\":\"user\",\"content\":\"no, stop\"\n"));
    let mut file = ContextFile::follow(&written.path()).unwrap();
    assert!(!file.look().is_whole);
    assert!(!file.look().is_whole, "nothing new was said");
    written.append(&user("go on"));
    assert!(file.look().is_whole);
}

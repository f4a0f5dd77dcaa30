//! A column of the tables: a name and the command line that reaches the trivial server.

/// One way to reach the server.
#[derive(Debug, Clone)]
pub struct Column {
    /// As printed.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
}

impl Column {
    /// `{}` as a word of `command` stands for the server's command line.
    ///
    /// Words are cut at white space and nothing is quoted: what needs more is a script.
    pub fn new(name: &str, command: &str, server: &[String]) -> Self {
        let mut argv = Vec::new();
        for word in command.split_whitespace() {
            if word == "{}" {
                argv.extend_from_slice(server);
            } else {
                argv.push(word.to_owned());
            }
        }
        Self { name: name.to_owned(), argv }
    }
}

#[cfg(test)]
mod tests {
    use super::Column;

    #[test]
    fn braces_become_the_server_words() {
        let server = ["s".to_owned(), "a b".to_owned()];
        assert_eq!(Column::new("x", "w -- {}", &server).argv, ["w", "--", "s", "a b"]);
    }
}

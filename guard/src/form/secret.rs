//! Arguments that look like credentials: a form is no place for them. What a person types there is shown, kept in
//! transcripts, and read by the model.
//!
//! Names are compared as words: `accessToken` and `access_token` are *access*, *token*, and `author` is not *auth*.
//! A server that wants a password out of a person can call the field anything: this stops accidents and the
//! careless, not the server.

use super::property::{own_text, own_views};
use super::words::{Marker, hit, readings, without};
use crate::json::Value;
use crate::policy::AskField;
use crate::schema::Schema;

/// Characters of one entry of `secrets.names` or `secrets.texts`.
pub const MARKER_CHARS_MAX: usize = 64;

const NAMES: &str = "\
    password, passwd, pwd, passphrase, passcode, secret, secrets, credential, credentials, token, \
    api key, access key, private key, secret key, signing key, encryption key, auth key, auth, \
    authorization, bearer, otp, totp, 2fa, mfa, pin, security code, verification code, seed phrase, \
    recovery phrase, recovery code, mnemonic, ssn, social security, payment, card, card number, cvv, \
    cvc, iban, passwort, kennwort, contraseña, mot de passe, senha, parola d'ordine, wachtwoord, \
    lösenord, hasło, пароль, 密码, 密碼, パスワード, 비밀번호";

const TEXTS: &str = "\
    password, passwd, passphrase, passcode, secret, credential, credentials, api key, access key, private key, \
    secret key, signing key, client secret, api secret, api token, access token, auth token, \
    authentication token, authorization token, authorization header, bearer token, bearer, \
    refresh token, session token, security token, id token, oauth token, github token, bot token, \
    one time password, one time code, otp, totp, 2fa code, pin code, security code, verification code, \
    seed phrase, recovery phrase, recovery code, social security number, credit card, debit card, \
    card number, payment card, cvv, cvc, iban, passwort, kennwort, contraseña, mot de passe, senha, \
    wachtwoord, lösenord, hasło, пароль, 密码, 密碼, パスワード, 비밀번호";

/// Names with a marker in them that are no credentials: places in a listing, and amounts.
const HARMLESS: &str = "\
    page token, next token, continuation token, sync token, cursor token, token count, token limit, \
    token budget, business card, card id, card type, card title, payment id, payment method id";

/// `secrets:`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    ask: bool,
    names: Vec<Marker>,
    texts: Vec<Marker>,
    harmless: Vec<Marker>,
}

impl Default for Secrets {
    fn default() -> Secrets {
        Secrets::new(false, None, None)
    }
}

impl Secrets {
    /// `ask`: forms may ask for them all the same. A list that is given replaces the built-in one.
    #[must_use]
    pub fn new(ask: bool, names: Option<&[String]>, texts: Option<&[String]>) -> Secrets {
        let given = |list: &[String]| list.iter().map(|marker| Marker::of(marker)).collect();
        let built_in = |list: &str| -> Vec<Marker> { list.split(", ").map(Marker::of).collect() };
        Secrets {
            ask,
            names: names.map_or_else(|| built_in(NAMES), given),
            texts: texts.map_or_else(|| built_in(TEXTS), given),
            // Whoever gives their own list means it.
            harmless: names.map_or_else(|| built_in(HARMLESS), |_| Vec::new()),
        }
    }

    /// Whether forms may ask for credentials.
    #[must_use]
    pub fn ask(&self) -> bool {
        self.ask
    }

    /// Those of the fields that no form may ask for, in their order: by name, or by `title`, `description` or
    /// `format`, the schema's or the policy's.
    #[must_use]
    pub fn sensitive<'n>(
        &self,
        schema: Option<&Schema>,
        fields: impl IntoIterator<Item = (&'n str, Option<&'n AskField>)>,
    ) -> Vec<String> {
        if self.ask {
            return Vec::new();
        }
        let is_sensitive = |(name, field): &(&str, Option<&AskField>)| self.is_one(schema, name, *field);
        fields.into_iter().filter(is_sensitive).map(|(name, _)| name.to_owned()).collect()
    }

    /// Whether a field looks like a credential, whether forms ask for those or not.
    #[must_use]
    pub fn is_one(&self, schema: Option<&Schema>, name: &str, field: Option<&AskField>) -> bool {
        self.is_name(name) || texts_of(schema, name, field).iter().any(|text| self.is_text(text))
    }

    /// Whether a name looks like that of a credential.
    #[must_use]
    pub fn is_name(&self, name: &str) -> bool {
        let readings = readings(name);
        let named = readings.iter().any(|words| hit(words, &self.names));
        // Only as the whole rest of the name: `page_token_password` stays one.
        let is_harmless = || {
            readings.iter().all(|words| {
                let rest = without(words, &self.harmless);
                rest.len() < words.len() && !hit(&rest, &self.names)
            })
        };
        named && !is_harmless()
    }

    /// Whether a title, description or format speaks of a credential.
    #[must_use]
    pub fn is_text(&self, text: &str) -> bool {
        readings(text).iter().any(|words| hit(words, &self.texts))
    }
}

fn texts_of(schema: Option<&Schema>, name: &str, field: Option<&AskField>) -> Vec<String> {
    let own = schema.map(|schema| own_views(schema.source().root(), name)).unwrap_or_default();
    let given = field.map(|field| field.document().root());
    let views: Vec<Value<'_>> = own.into_iter().chain(given).collect();
    let all = ["title", "description", "format"].into_iter().flat_map(|keyword| own_text(&views, keyword));
    all.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::schema;
    use super::super::words::TEXT_CHARS_MAX;
    use super::*;

    #[test]
    fn names_are_compared_as_words() {
        let secrets = Secrets::default();
        for name in "password PASSWORD userPassword dbpassword password2 pass_word api_key apiKey apikey APIKey \
             userAPIkey X-API-Key access_token accessToken token githubToken client_secret clientsecret auth \
             authHeader OAuthToken otp otp_code 2fa pin PIN cvv2 card cardNumber iban ssn pwd passwd bearer \
             private-key ｐａｓｓｗｏｒｄ pass\u{200b}word p\u{430}ssword пароль 登录密码 Contraseña contrasen\u{303}a motDePasse \
             page_token_password pageTokenSecret".split(' ') {
            assert!(secrets.is_name(name), "{name}");
        }
        for name in
            "author authority authored_by max_tokens tokens tokenizer token_count tokenLimit page_token \
             nextPageToken pageToken secretary pinned spin shipping cardinality discard business_card \
             keyboard key path email compass credentialing bypass paymentId _ パス"
                .split(' ')
        {
            assert!(!secrets.is_name(name), "{name}");
        }
    }

    #[test]
    fn texts_are_held_to_phrases() {
        let secrets = Secrets::default();
        for text in [
            "password",
            "Your API key.",
            "A GitHub token",
            "the access-token",
            "Credit card number",
            "Einmal-Passwort",
        ] {
            assert!(secrets.is_text(text), "{text}");
        }
        for text in
            ["Business card", "The token limit", "Opaque page token", "Who is the author?", "date-time", ""]
        {
            assert!(!secrets.is_text(text), "{text}");
        }
    }

    #[test]
    fn what_is_said_of_a_field_counts_too() {
        let source = r##"{"properties":{"a":{"format":"password"},"b":{"$ref":"#/$defs/b"},"c":{"type":"string"},
            "d":{"anyOf":[{"type":"string","title":"Access token"},{"type":"null"}]}},
            "$defs":{"b":{"description":"Your passphrase"}}}"##;
        let schema = schema(source);
        let given = AskField(std::sync::Arc::new(super::super::tests::document(r#"{"title":"API key"}"#)));
        let fields = [("a", None), ("b", None), ("c", None), ("d", None), ("e", Some(&given)), ("f", None)];
        let secrets = Secrets::default();
        assert_eq!(secrets.sensitive(Some(&schema), fields), ["a", "b", "d", "e"]);
        assert_eq!(Secrets::new(true, None, None).sensitive(Some(&schema), fields), Vec::<String>::new());
    }

    #[test]
    fn lists_replace_the_built_in_ones() {
        let own = ["pageToken".to_owned(), "Geheimnis".to_owned()];
        let secrets = Secrets::new(false, Some(&own), None);
        assert!(
            secrets.is_name("page_token") && secrets.is_name("dasGeheimnis") && !secrets.is_name("password")
        );
        assert!(secrets.is_text("password"), "texts are another list");
        let secrets = Secrets::new(false, None, Some(&own));
        assert!(
            secrets.is_name("password") && !secrets.is_text("password") && secrets.is_text("ein Geheimnis")
        );
    }

    #[test]
    fn the_shortest_word_that_ends_with_a_marker() {
        let short = Secrets::new(false, Some(&["abcde".to_owned()]), None);
        assert!(short.is_name("abcde") && !short.is_name("xabcde"));
        let long = Secrets::new(false, Some(&["abcdef".to_owned()]), None);
        assert!(long.is_name("xabcdef") && !long.is_name("abcdefx"));
    }

    #[test]
    fn a_text_is_looked_at_up_to_its_limit() {
        let secrets = Secrets::default();
        let padded = |dots: usize| format!("{}password", ".".repeat(dots));
        assert!(secrets.is_text(&padded(TEXT_CHARS_MAX - 9)));
        assert!(secrets.is_text(&padded(TEXT_CHARS_MAX - 8)));
        assert!(!secrets.is_text(&padded(TEXT_CHARS_MAX - 7)));
        let spaced = format!("Your{}password", " \n".repeat(TEXT_CHARS_MAX));
        assert!(secrets.is_text(&spaced), "a form shows it as `Your password`");
    }

    #[test]
    fn a_text_made_to_be_slow_is_not() {
        let secrets = Secrets::default();
        let since = std::time::Instant::now();
        for text in [
            "a ".repeat(1 << 19),
            "p".repeat(1 << 20),
            "pa ss wor ".repeat(1 << 17),
            "\u{430}".repeat(1 << 19),
        ] {
            assert!(!secrets.is_text(&text) && !secrets.is_name(&text));
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(2), "{:?}", since.elapsed());
    }
}

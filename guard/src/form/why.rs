//! Why no form can ask for an argument.

/// Choices that one field offers.
pub const CHOICES_MAX: usize = 200;

/// An argument that no form can ask for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}`: {why}")]
pub struct Unaskable {
    /// Its name, made visible.
    pub name: String,
    /// Why.
    pub why: Why,
}

/// Why no form can ask for an argument. Forms hold texts, numbers, booleans and choices, nothing nested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// Several different things are allowed.
    #[error("its schema allows several kinds of value")]
    Alternatives,
    /// Bounds that are none.
    #[error("its bounds cannot be used")]
    Bounds,
    /// `enum` of anything but texts or numbers.
    #[error("its choices are neither texts nor numbers")]
    Choices,
    /// More than one schema at once.
    #[error("its schema is put together from several")]
    Combined,
    /// A list of what was not given as choices.
    #[error("it is a list, and a form can only ask for choices out of given ones")]
    List,
    /// A list of choices, which came to forms with revision 2025-11-25.
    #[error("it is a list, and the client's revision of the protocol has no lists in forms")]
    ListTooEarly,
    /// An object.
    #[error("it is an object, and forms are flat")]
    Nested,
    /// `null` alone, or a type that JSON Schema does not know.
    #[error("a form has no field of type `{0}`")]
    Type(String),
    /// More than [`super::FORM_BYTES_MAX`].
    #[error("the form would have {0} bytes, the limit is {max}", max = super::FORM_BYTES_MAX)]
    TooLarge(usize),
    /// More than [`CHOICES_MAX`].
    #[error("it has {0} choices, a form offers at most {CHOICES_MAX}")]
    TooManyChoices(usize),
    /// More than [`super::FIELDS_MAX`].
    #[error("{0} arguments are missing, a form asks for at most {max}", max = super::FIELDS_MAX)]
    TooManyFields(usize),
    /// A reference that leads nowhere, or around in a circle.
    #[error("its schema refers to what is not there")]
    Unresolved,
}

//! The case files that need a guard; the others need none.

/// In order. Cases about the store and our own tools are not here yet: what they need of the policy file is not built.
pub(crate) const GUARD_CASES: &[&str] = &[
    "C065", "C066", "C067", "C069", "C070", "C071", "C072", "C073", "C075", "C076", "C077", "C078", "C079",
    "C081", "C082", "C084", "C088", "C089", "C091", "C092", "C093", "C094", "C096", "C097", "C098", "C099",
    "C100", "C102", "C103", "C104", "C105", "C106", "C107", "C108", "C109", "C110",
];

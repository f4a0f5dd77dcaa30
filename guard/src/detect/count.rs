//! How many bytes the stages look at, counted where they look: the budget knows only what it is told, and knows
//! nothing of folding, unwrapping and decoding. Counted in tests and in fuzz targets (`--cfg fuzzing`), else nothing.

/// A stage looks at that many bytes.
#[inline]
pub(super) fn looked(bytes: usize) {
    #[cfg(any(test, fuzzing))]
    LOOKED.with(|looked| looked.set(looked.get() + bytes as u64));
    #[cfg(not(any(test, fuzzing)))]
    let _ = bytes;
}

#[cfg(any(test, fuzzing))]
thread_local! {
    static LOOKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Bytes that were looked at meanwhile.
#[cfg(any(test, fuzzing))]
pub(super) fn looked_at_by(run: impl FnOnce()) -> u64 {
    LOOKED.with(|looked| looked.set(0));
    run();
    LOOKED.with(std::cell::Cell::get)
}

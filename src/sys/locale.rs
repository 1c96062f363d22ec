//! What the locale of the environment says of characters.
use std::ffi::CStr;
use std::ptr;

/// Whether text is UTF-8 by LC_ALL, LC_CTYPE or LANG. A locale that is not installed counts as C, where it is not.
pub fn is_utf8() -> bool {
    // SAFETY: an empty name means the environment; the object is ours and freed below, after the text was examined.
    unsafe {
        let locale = libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), ptr::null_mut());
        if locale.is_null() {
            return false;
        }
        let codeset = libc::nl_langinfo_l(libc::CODESET, locale);
        let utf8 = !codeset.is_null() && CStr::from_ptr(codeset) == c"UTF-8";
        libc::freelocale(locale);
        utf8
    }
}

/// What each byte is as a capital letter, or as a small one, by the locale of the environment: in one of single bytes
/// letters beyond ASCII have both, in UTF-8 no byte alone is such a letter. One that is not installed counts as C.
pub fn in_case(capital: bool) -> [u8; 256] {
    // SAFETY: as above; the thread uses the locale only in here.
    let used = unsafe {
        let locale = libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), ptr::null_mut());
        (!locale.is_null()).then(|| (locale, libc::uselocale(locale)))
    };
    let change = |byte: usize| {
        let letter = byte as libc::c_int;
        // SAFETY: takes any number that a byte has.
        let changed = unsafe { if capital { libc::toupper(letter) } else { libc::tolower(letter) } };
        u8::try_from(changed).unwrap_or(byte as u8)
    };
    let table = std::array::from_fn(change);
    if let Some((locale, before)) = used {
        // SAFETY: what was in use before is in use again when the locale is freed.
        unsafe {
            libc::uselocale(before);
            libc::freelocale(locale);
        }
    }
    table
}

//! Character properties of the environment's locale.
use std::ffi::CStr;
use std::ptr;

/// Whether text is UTF-8 according to LC_ALL, LC_CTYPE or LANG. A locale that is not installed counts as C, which is
/// not UTF-8.
pub fn is_utf8() -> bool {
    // SAFETY: an empty name stands for the environment; we own the locale object, which is freed below after its last
    // use.
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

/// Each byte in upper or lower case, according to the locale of the environment. In single-byte locales this includes
/// non-ASCII letters; in UTF-8 no single byte is such a letter. A locale that is not installed counts as C.
pub fn in_case(capital: bool) -> [u8; 256] {
    // SAFETY: as above; the thread uses the locale only in this function.
    let used = unsafe {
        let locale = libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), ptr::null_mut());
        (!locale.is_null()).then(|| (locale, libc::uselocale(locale)))
    };
    let change = |byte: usize| {
        let letter = byte as libc::c_int;
        // SAFETY: accepts any value of a byte.
        let changed = unsafe { if capital { libc::toupper(letter) } else { libc::tolower(letter) } };
        u8::try_from(changed).unwrap_or(byte as u8)
    };
    let table = std::array::from_fn(change);
    if let Some((locale, before)) = used {
        // SAFETY: the previous locale is restored before this one is freed.
        unsafe {
            libc::uselocale(before);
            libc::freelocale(locale);
        }
    }
    table
}

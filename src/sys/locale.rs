//! What the locale of the environment says of characters.
use std::ffi::CStr;
use std::ptr;

/// Whether text is UTF-8 by LC_ALL, LC_CTYPE or LANG. A locale that is not installed counts as C, where it is not.
pub fn is_utf8() -> bool {
    // SAFETY: an empty name means the environment; the object is ours and freed below, after the text was looked at.
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

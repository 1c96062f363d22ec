//! Incomplete uploads in an object store.
use crate::core::PendingUpload;
use crate::report::printable::printable;

/// A line for each upload: when it began, its name and its object.
pub fn uploads(uploads: &[PendingUpload]) -> String {
    if uploads.is_empty() {
        return "No incomplete uploads.\n".to_owned();
    }
    let began = |upload: &PendingUpload| printable(&upload.began);
    let width = uploads.iter().map(|upload| began(upload).chars().count()).max().unwrap_or(0);
    let line = |upload: &PendingUpload| {
        let PendingUpload { address, id, .. } = upload;
        format!("{:width$}  {}  {}\n", began(upload), printable(id), printable(address))
    };
    uploads.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_upload_has_a_line_and_no_character_moves_the_cursor() {
        let upload = |began: &str, address: &str| PendingUpload {
            address: address.to_owned(),
            id: "id".to_owned(),
            began: began.to_owned(),
        };
        let shown = uploads(&[upload("2026", "s3://b/a\u{1b}[2J"), upload("", "s3://b/c")]);
        assert_eq!(shown.lines().count(), 2);
        assert!(shown.starts_with("2026  id  s3://b/a") && !shown.contains('\u{1b}'), "{shown}");
        assert!(shown.ends_with("      id  s3://b/c\n"), "{shown}");
        assert_eq!(uploads(&[]), "No incomplete uploads.\n");
    }
}

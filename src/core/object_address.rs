//! Addresses of objects in object stores.
use std::fmt;

/// Most bytes of a key, as S3, Google Cloud Storage and Azure specify.
const KEY_BYTES_MAX: usize = 1024;

/// The kinds of object stores, which differ in protocol and credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Amazon S3, and servers that have its interface.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

impl StoreKind {
    /// The scheme of addresses.
    pub fn scheme(self) -> &'static str {
        match self {
            StoreKind::S3 => "s3",
            StoreKind::Gcs => "gs",
            StoreKind::Azure => "az",
        }
    }

    /// The name for messages.
    #[cfg_attr(not(feature = "objects"), allow(dead_code, reason = "only the feature objects finds one"))]
    pub fn name(self) -> &'static str {
        match self {
            StoreKind::S3 => "S3",
            StoreKind::Gcs => "Google Cloud Storage",
            StoreKind::Azure => "Azure Blob Storage",
        }
    }

    /// What contains objects.
    pub fn container(self) -> &'static str {
        if self == StoreKind::Azure { "container" } else { "bucket" }
    }

    fn of_scheme(scheme: &str) -> Option<StoreKind> {
        let all = [StoreKind::S3, StoreKind::Gcs, StoreKind::Azure];
        all.into_iter().find(|kind| scheme.eq_ignore_ascii_case(kind.scheme()))
    }
}

/// An object, or the beginning of the keys of several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectAddress {
    /// The kind of store; the environment names its server and has the credentials.
    pub store: StoreKind,
    /// Bucket or container.
    pub bucket: String,
    /// The key, as the store has it: no character is encoded. Empty: all objects of the bucket.
    pub key: String,
}

impl ObjectAddress {
    /// The object that `text` names.
    ///
    /// # Errors
    /// Why it names none.
    pub fn parse(text: &str) -> Result<ObjectAddress, String> {
        let address = ObjectAddress::of_prefix(text)?;
        if address.key.is_empty() {
            let container = address.store.container();
            return Err(format!("it names no object: {}://{}/KEY", address.store.scheme(), container.to_uppercase()));
        }
        if address.key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err("its key has an empty part, . or .. between slashes, which haul does not support".to_owned());
        }
        Ok(address)
    }

    /// The text of an address that may be malformed, without what may be secret in it.
    pub fn redacted(text: &str) -> String {
        let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
        let (bucket, key) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        match bucket.rsplit_once('@') {
            Some((_, bucket)) => format!("{scheme}://...@{bucket}{key}"),
            None => text.to_owned(),
        }
    }

    /// The bucket and the beginning of keys that `text` names.
    ///
    /// # Errors
    /// Why it names none.
    pub fn of_prefix(text: &str) -> Result<ObjectAddress, String> {
        let (scheme, rest) = text.split_once("://").ok_or("it has no scheme")?;
        let store = StoreKind::of_scheme(scheme).ok_or("its scheme is none of s3, gs and az")?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') {
            return Err("it has credentials: give them in the variables of the environment".to_owned());
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_$".contains(&byte);
        if bucket.is_empty() || !bucket.bytes().all(plain) {
            return Err(format!("'{}' is no name of a {}", bucket.escape_default(), store.container()));
        }
        if key.len() > KEY_BYTES_MAX {
            return Err(format!("its key is longer than {KEY_BYTES_MAX} bytes"));
        }
        // As `hidden_in` leaves it. The name of an object would have it otherwise.
        if key.split_once('?').is_some_and(|(_, query)| query.split('&').any(|field| field.ends_with("=..."))) {
            return Err("it has a signature: use the https address for a signed request".to_owned());
        }
        if key.chars().any(char::is_control) {
            return Err("its key has control characters".to_owned());
        }
        Ok(ObjectAddress { store, bucket: bucket.to_owned(), key: key.to_owned() })
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}/{}", self.store.scheme(), self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_names_store_bucket_and_key() {
        for (text, store, bucket, key) in [
            ("s3://vault/a/b c.img", StoreKind::S3, "vault", "a/b c.img"),
            ("S3://vault/100%25?x#y", StoreKind::S3, "vault", "100%25?x#y"),
            ("gs://b.example/k", StoreKind::Gcs, "b.example", "k"),
            ("az://$root/k", StoreKind::Azure, "$root", "k"),
        ] {
            let address = ObjectAddress::parse(text).unwrap();
            assert_eq!((address.store, address.bucket.as_str(), address.key.as_str()), (store, bucket, key), "{text}");
        }
        for text in ["s3://", "s3://b", "s3://b/", "s3:///k", "s3://b//k", "s3://b/a/../k", "s3://b/k/", "s3://b c/k"] {
            assert!(ObjectAddress::parse(text).is_err(), "{text}");
        }
        let refused = ObjectAddress::parse("s3://user:secret@b/k").unwrap_err();
        assert!(refused.contains("environment") && !refused.contains("secret"), "{refused}");
        assert_eq!(ObjectAddress::of_prefix("s3://b").unwrap().to_string(), "s3://b/");
    }

    proptest! {
        #[test]
        fn an_address_that_is_written_names_the_same_object(bucket in "[a-z0-9.-]{3,9}", key in "[ -~&&[^/]]{1,9}") {
            prop_assume!(!matches!(key.as_str(), "." | ".."));
            let address = ObjectAddress { store: StoreKind::Gcs, bucket, key };
            prop_assert_eq!(ObjectAddress::parse(&address.to_string()), Ok(address));
        }
    }
}

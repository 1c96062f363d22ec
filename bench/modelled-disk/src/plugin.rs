//! The interface to nbdkit.
#![allow(missing_docs)] // The macro makes a public function that only nbdkit calls.
use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use nbdkit::{Error, FuaFlags, Result, Server, plugin};

use crate::keys::KEYS;
use crate::model::Kind;
use crate::parameters::{Extent, Parameters};
use crate::preset::Preset;
use crate::server::ServedDisk;
use crate::store::Store;

static PARAMETERS: Mutex<Option<Parameters>> = Mutex::new(None);
static DISK: OnceLock<ServedDisk> = OnceLock::new();

/// One connection. All connections share the same disk.
struct Connection {
    disk: &'static ServedDisk,
}

fn invalid(text: impl Into<String>) -> Error {
    Error::new(libc::EINVAL, text.into())
}

/// Prints an error at the end, when nbdkit can no longer report it.
fn complain(what: std::fmt::Arguments<'_>) {
    let line = format!("modelled-disk: {what}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

fn extent(offset: u64, len: usize) -> Extent {
    Extent { offset, len: len as u64 }
}

impl Server for Connection {
    fn name() -> &'static str {
        "modelled-disk"
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn description() -> Option<&'static str> {
        Some("A disk with a service time: rates, seeks, rotation, queue, caches and faults of a real one.")
    }

    fn config_help() -> Option<&'static str> {
        static HELP: OnceLock<String> = OnceLock::new();
        let help = HELP.get_or_init(|| {
            let mut help = String::new();
            for (key, form, meaning) in KEYS {
                let _ = writeln!(help, "{:<28}{meaning}", format!("{key}={form}"));
            }
            let names: Vec<&str> = Preset::all().iter().map(|preset| preset.name).collect();
            let _ = write!(help, "Presets: {}.", names.join(", "));
            help
        });
        Some(help)
    }

    fn config(key: &str, value: &str) -> Result<()> {
        let mut parameters = PARAMETERS.lock().unwrap_or_else(PoisonError::into_inner);
        if key == "preset" {
            if parameters.is_some() {
                return Err(invalid("preset: must be the first parameter, as it would undo those before it"));
            }
            *parameters = Some(Preset::named(value).map_err(invalid)?.parameters());
            return Ok(());
        }
        parameters.get_or_insert_default().set(key, value).map_err(invalid)
    }

    fn config_complete() -> Result<()> {
        let parameters = PARAMETERS.lock().unwrap_or_else(PoisonError::into_inner);
        parameters.clone().unwrap_or_default().check().map_err(invalid)
    }

    fn get_ready() -> Result<()> {
        let parameters = PARAMETERS.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let disk = ServedDisk::open(parameters)?;
        DISK.set(disk).map_err(|_| invalid("nbdkit asked twice whether the plugin is ready"))
    }

    fn unload() {
        let Some(disk) = DISK.get() else { return };
        if let Err(error) = disk.power_off() {
            complain(format_args!("store: {error}"));
        }
        if let Err(error) = disk.write_trace() {
            complain(format_args!("trace: {error}"));
        }
        let Some(path) = &disk.parameters.log else { return };
        let written = serde_json::to_vec_pretty(&disk.counters()).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|json| std::fs::write(path, json)) {
            complain(format_args!("log {}: {error}", path.display()));
        }
    }

    fn open(_readonly: bool) -> Result<Box<dyn Server>> {
        let disk = DISK.get().ok_or_else(|| invalid("a connection came before the plugin was ready"))?;
        Ok(Box::new(Connection { disk }))
    }

    fn get_size(&self) -> Result<i64> {
        i64::try_from(self.disk.parameters.size_bytes).map_err(|_| invalid("size: more than 8 EiB"))
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(self.disk.parameters.rotational())
    }

    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_flush(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Emulate)
    }

    fn can_trim(&self) -> Result<bool> {
        Ok(self.disk.parameters.trim)
    }

    // Zeroing takes as long as writing here, so a request for fast zeros must fail.
    fn can_fast_zero(&self) -> Result<bool> {
        Ok(false)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let extent = extent(offset, bytes.len());
        Ok(self.disk.serve(Kind::Read, extent, |store| store.read(bytes, offset))?)
    }

    fn write_at(&self, bytes: &[u8], offset: u64, _flags: nbdkit::Flags) -> Result<()> {
        let extent = extent(offset, bytes.len());
        Ok(self.disk.serve(Kind::Write, extent, |store| store.write(bytes, offset))?)
    }

    fn zero(&self, count: u32, offset: u64, _flags: nbdkit::Flags) -> Result<()> {
        let extent = extent(offset, count as usize);
        Ok(self.disk.serve(Kind::Write, extent, |store| store.zero(extent))?)
    }

    fn trim(&self, count: u32, offset: u64, _flags: nbdkit::Flags) -> Result<()> {
        let extent = extent(offset, count as usize);
        Ok(self.disk.serve(Kind::Trim, extent, |store| store.zero(extent))?)
    }

    fn flush(&self) -> Result<()> {
        Ok(self.disk.serve(Kind::Flush, Extent { offset: 0, len: 0 }, Store::flush)?)
    }
}

plugin!(Connection {
    can_fast_zero,
    can_flush,
    can_fua,
    can_multi_conn,
    can_trim,
    config,
    config_complete,
    config_help,
    flush,
    get_ready,
    is_rotational,
    trim,
    unload,
    write_at,
    zero
});

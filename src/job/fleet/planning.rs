//! Planning a copy by many workers: everything is checked and decided, the destination is prepared, and the plan is
//! written once.
use super::{names, sides, store_probe};
use crate::core::{
    Address, Decision, EndpointKind, Error, Extent, ExtentSet, Facts, Kind, ObjectAddress, Result, Side, part_bytes,
};
use crate::disks::object::SharedState;
use crate::disks::{self, object, probe};
use crate::files::{DirectoryEntry, FileError, NewFile, Visibility};
use crate::job::Prepared;
use crate::job::journal::samples_of;
use crate::job::operator::Operator;
use crate::ledger::SideIdentity;
use crate::ledger::fleet::{FleetDigest, FleetPlan, FleetSide, FleetUpload, FleetZeros};
use crate::plan::{JournalChoice, Options, When};
use std::fs::{DirBuilder, File};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

/// How the copy is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizing {
    /// Bytes of a shard.
    ShardBytes(u64),
    /// Number of shards.
    Shards(u64),
}

/// What is wanted of a plan besides the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetWish {
    pub(crate) sizing: Sizing,
    /// Address of the shared state; `None`: beside the dest.
    pub(crate) state: Option<String>,
    pub(crate) lease: Duration,
    /// The digest of all data.
    pub(crate) digest: Option<FleetDigest>,
}

/// A copy that was examined and divided. Nothing has been changed yet.
pub(crate) struct FleetDraft {
    prepared: Prepared,
    plan: FleetPlan,
}

impl FleetDraft {
    /// Examines both sides as for a copy, and divides it.
    ///
    /// # Errors
    /// Every reason to refuse the copy, and what many workers cannot share.
    pub(crate) fn look(options: &Options, wish: &FleetWish, operator: &Arc<dyn Operator>) -> Result<FleetDraft> {
        let prepared = Prepared::look(&alone(options), operator)?;
        let plan = draft(options, wish, &prepared)?;
        Ok(FleetDraft { prepared, plan })
    }

    /// The plan, as far as it is known: without samples, and without what preparing the dest adds.
    pub(crate) fn plan(&self) -> &FleetPlan {
        &self.plan
    }

    /// The decision about the copy as one, and its sides.
    pub(crate) fn decision(&self) -> (&Decision, [&Facts; 2]) {
        (self.prepared.decision(), [&self.prepared.source, &self.prepared.dests[0]])
    }

    /// Asks the necessary questions, prepares the dest, and writes the plan into the shared state.
    ///
    /// # Errors
    /// Refused if the operator does not agree, or the state cannot be used; Io. The dest is not prepared then.
    pub(crate) fn write(self) -> Result<FleetPlan> {
        let FleetDraft { prepared, mut plan } = self;
        let confirmed = prepared.agree()?;
        let prepared = &confirmed.prepared;
        if prepared.options.resume {
            let what = "an unfinished copy to the destination was to be resumed, which a plan cannot do";
            return Err(Error::new(Kind::Refused, what).advise("Finish it with haul copy, or use --restart."));
        }
        let state = open_state(&plan.state)?;
        if state.get(names::PLAN)?.is_some() {
            let what = format!("--state {} has a plan already", plan.state);
            let advice = "Nothing was written. Name another place with --state, or end that job with haul finish.";
            return Err(Error::new(Kind::Refused, what).advise(advice));
        }
        store_probe::check(&state, &unique())?;
        let source_end = disks::open_source(&prepared.plans.all.plan.source, &prepared.source)?;
        let whole: ExtentSet = [Extent::new(0, plan.len_bytes)].into_iter().collect();
        plan.samples = samples_of(&whole, &prepared.plans.all.plan.source, &source_end);
        // Claims about the dest of earlier copies become invalid now.
        for (alone, found) in confirmed.prepared.plans.alone.iter().zip(confirmed.prepared.journals) {
            found.begin(alone, &source_end, None)?;
        }
        let made = PreparedDest::make(&mut plan)?;
        let written = plan.to_text().map_err(|fault| fault.into_error(names::PLAN));
        match written.and_then(|text| state.create(names::PLAN, &text)) {
            Ok(true) => Ok(plan),
            Ok(false) => {
                made.discard();
                let what = format!("another process wrote a plan to --state {}", plan.state);
                Err(Error::new(Kind::Refused, what).advise("Name another place with --state."))
            }
            Err(error) => {
                made.discard();
                Err(error)
            }
        }
    }
}

/// The options of the copy as one.
fn alone(options: &Options) -> Options {
    Options { reflink: When::Never, journal: JournalChoice::Auto, hashes: Vec::new(), ..options.clone() }
}

/// The plan without samples and upload.
fn draft(options: &Options, wish: &FleetWish, prepared: &Prepared) -> Result<FleetPlan> {
    let (source, dest, plan) = (&prepared.source, &prepared.dests[0], &prepared.plans.all.plan);
    let [from, to] = [(Side::Source, source), (Side::Dest, dest)].map(|(side, facts)| -> Result<FleetSide> {
        let identity = SideIdentity::of(facts, plan.side(side).map.start());
        Ok(FleetSide::new(sides::lasting_address(side, facts)?, identity))
    });
    let (mut from, mut to) = (from?, to?);
    from.modified = sides::modified(&from)?;
    to.boot_id = sides::boot_id(&to.identity);
    sides::check(options, plan, source, dest)?;
    let Some(len) = plan.len.filter(|&len| len > 0) else {
        let what = format!("source {} has no bytes, or their number is not known", source.address);
        return Err(Error::new(Kind::Usage, what).on(Side::Source).advise("Use haul copy."));
    };
    let mut block_bytes = sides::block_bytes(len, source, dest, to.identity.offset_bytes)?;
    if let Some(digest) = &wish.digest {
        // Both are powers of two, but for parts of 5 GiB, which are a multiple of the longest block.
        block_bytes = block_bytes.max(digest.block_bytes);
    }
    let wanted = match wish.sizing {
        Sizing::ShardBytes(bytes) => bytes,
        Sizing::Shards(count) => len.div_ceil(count.max(1)),
    };
    let shard_bytes = wanted.max(1).div_ceil(block_bytes).saturating_mul(block_bytes);
    Ok(FleetPlan {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created: format!("{:.9}", jiff::Timestamp::now()),
        final_path: (dest.kind == EndpointKind::File).then(|| to.address.clone()),
        source: from,
        len_bytes: len,
        block_bytes,
        shard_bytes,
        shards: len.div_ceil(shard_bytes),
        zeros: match options.sparse {
            When::Auto => FleetZeros::Holes,
            When::Always => FleetZeros::Detect,
            When::Never => FleetZeros::Write,
        },
        skip_unreadable: options.on_error.skip,
        retries: options.on_error.retries,
        verify: options.verify.is_some(),
        limit_bytes_per_s: options.limit_bytes_per_s,
        digest: wish.digest.clone(),
        upload: None,
        state: state_place(wish, &to)?,
        lease_s: wish.lease.as_secs(),
        samples: Vec::new(),
        dest: to,
    })
}

/// Where the shared state is: beside a file or an object by default.
fn state_place(wish: &FleetWish, dest: &FleetSide) -> Result<String> {
    let kind = dest.identity.kind.as_str();
    let beside = [EndpointKind::File, EndpointKind::Object].iter().any(|known| known.name() == kind);
    let place = match &wish.state {
        Some(place) => place.clone(),
        None if beside => format!("{}.haul-state", dest.address),
        None => {
            let what = format!("--state is required: there is no place beside destination {}", dest.address);
            return Err(Error::new(Kind::Usage, what).advise("Name a bucket, or a directory that all workers share."));
        }
    };
    if place.contains("://") {
        return Ok(place);
    }
    let full = absolute(&place).map_err(|error| Error::new(Kind::Open, format!("--state {place}")).because(error))?;
    let text = full.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::new(Kind::Usage, format!("--state {place}: the path is not UTF-8")))
}

/// Opens the shared state, whose directory is created.
fn open_state(place: &str) -> Result<SharedState> {
    if !place.contains("://") {
        let made = DirBuilder::new().recursive(true).create(place);
        made.map_err(|error| Error::new(Kind::Open, format!("cannot create directory {place}")).because(error))?;
    }
    SharedState::open(place)
}

/// Text that no other process uses.
fn unique() -> String {
    format!("{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond())
}

/// What was made for the dest, to be undone if there will be no plan.
enum PreparedDest {
    Nothing,
    File(DirectoryEntry, File),
    Upload(ObjectAddress, String),
}

impl PreparedDest {
    /// Makes a file of the full size under a temporary name, or begins the upload.
    fn make(plan: &mut FleetPlan) -> Result<PreparedDest> {
        if let Some(path) = &plan.final_path {
            let temporary = temporary_path(Path::new(path));
            let end = plan.dest.identity.offset_bytes + plan.len_bytes;
            let cannot = |error: FileError| {
                let what = format!("cannot create {}, the destination until haul finish", temporary.display());
                Error::new(Kind::Open, what).on(Side::Dest).because(error.into())
            };
            let place = DirectoryEntry::of(&temporary).map_err(|error| cannot(error.into()))?;
            let new = NewFile::begin(&place).map_err(cannot)?;
            new.file().set_len(end).map_err(|error| cannot(error.into()))?;
            let file = new.publish(Visibility::Umask).map_err(cannot)?;
            let address = temporary.to_str().unwrap_or_default().to_owned();
            let facts = probe::dest(&address)?;
            let identity = SideIdentity::of(&facts, plan.dest.identity.offset_bytes);
            plan.dest = FleetSide::new(address, identity);
            return Ok(PreparedDest::File(place, file));
        }
        match Address::parse(&plan.dest.address, Side::Dest)? {
            Address::Object(address) => {
                let id = object::begin(&address)?;
                let part_bytes = part_bytes(plan.len_bytes).unwrap_or(plan.block_bytes);
                plan.upload = Some(FleetUpload { id: id.clone(), part_bytes });
                Ok(PreparedDest::Upload(address, id))
            }
            _ => Ok(PreparedDest::Nothing),
        }
    }

    /// Undoes it; what cannot be removed stays.
    fn discard(self) {
        match self {
            PreparedDest::Nothing => {}
            PreparedDest::File(place, file) => drop(place.remove(&file)),
            PreparedDest::Upload(address, id) => drop(object::abort(&address, &id)),
        }
    }
}

/// The name of a dest file until all is copied: hidden, and beside its final name.
fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start: String = name.chars().take(48).collect();
    path.with_file_name(format!(".{start}.haul-fleet-{}", unique()))
}

//! Converts operands into a plan.
use super::operands::{Conversions, GivenCount, Operands};
use crate::apps::fronts::dd::charsets;
use crate::apps::fronts::dd::plan::{Conflict, DdUsage, DdWarning};
use crate::apps::fronts::record_plan::{
    Amount, DestWords, Durable, Framing, FramingKind, OpenWords, RecordPlan, RecordSide,
};
use crate::sys::in_case;

/// Default size of a record, in bytes.
const RECORD_BYTES: u64 = 512;

/// Combines the operands into a plan.
pub(super) fn into_options(operands: Operands, warnings: &mut Vec<DdWarning>) -> Result<RecordPlan, DdUsage> {
    let conversions = operands.conversions;
    if operands.dest_fullblock {
        return Err(DdUsage::OutputFlag("fullblock".into()));
    }
    let framing = framing(&operands)?;
    check(&operands)?;
    if operands.dest_words.append && !conversions.notrunc {
        warnings.push(DdWarning::AppendTruncates);
    }
    let size = |one: Option<u64>| operands.bs.or(one).unwrap_or(RECORD_BYTES);
    let (ibs, obs) = (size(operands.ibs), size(operands.obs));
    let Conversions { ascii, ebcdic, ibm, block, unblock, lcase, ucase, swab, sync, .. } = conversions;
    // Requested, whether or not cbs= makes it effective.
    let changes_data = ascii || ebcdic || ibm || block || unblock || lcase || ucase || swab;
    let pad = if framing.is_some() { b' ' } else { 0 };
    let side = |path, words: OpenWords, record_bytes, given: GivenCount, in_bytes| RecordSide {
        path,
        words,
        record_bytes,
        skip: amount(given, in_bytes, record_bytes),
    };
    let count = operands.count.map(|count| amount(count, operands.count_bytes, ibs));
    Ok(RecordPlan {
        source: side(operands.source, operands.source_words, ibs, operands.skip, operands.skip_bytes),
        dest: side(operands.dest, operands.dest_words, obs, operands.seek, operands.seek_bytes),
        dest_words: DestWords { excl: conversions.excl, nocreat: conversions.nocreat, notrunc: conversions.notrunc },
        count,
        reblock: operands.bs.is_none() || changes_data,
        full_reads: operands.fullblock,
        pad: sync.then_some(pad),
        swab,
        table: table(&conversions),
        framing,
        sparse: conversions.sparse,
        keep_going: conversions.noerror,
        durable: match (conversions.fdatasync, conversions.fsync) {
            (_, true) => Some(Durable::All),
            (true, false) => Some(Durable::Data),
            (false, false) => None,
        },
        status_output: operands.status_output,
        ..RecordPlan::default()
    })
}

fn amount(given: GivenCount, in_bytes: bool, record_bytes: u64) -> Amount {
    let value = given.value;
    if given.in_bytes || in_bytes {
        return Amount { records: value / record_bytes, bytes: value % record_bytes };
    }
    Amount { records: value, bytes: 0 }
}

fn check(operands: &Operands) -> Result<(), DdUsage> {
    let conflict = |conflict| Err(DdUsage::Conflict(conflict));
    let conversions = operands.conversions;
    if conversions.lcase && conversions.ucase {
        return conflict(Conflict::Cases);
    }
    if conversions.excl && conversions.nocreat {
        return conflict(Conflict::Creation);
    }
    let both = |words: OpenWords| words.direct && words.nocache;
    if both(operands.source_words) || both(operands.dest_words) {
        return conflict(Conflict::Caches);
    }
    Ok(())
}

/// Converts lines to records or back. The character sets imply one; without `cbs=` there is none.
fn framing(operands: &Operands) -> Result<Option<Framing>, DdUsage> {
    let Conversions { ascii, ebcdic, ibm, block, unblock, .. } = operands.conversions;
    if [ascii, ebcdic, ibm].into_iter().filter(|given| *given).count() > 1 {
        return Err(DdUsage::Conflict(Conflict::Charsets));
    }
    let Some(record_bytes) = operands.cbs else { return Ok(None) };
    let kind = match (block || ebcdic || ibm, unblock || ascii) {
        (true, true) => return Err(DdUsage::Conflict(Conflict::Framings)),
        (true, false) => FramingKind::Block,
        (false, true) => FramingKind::Unblock,
        (false, false) => return Ok(None),
    };
    let (newline, space) = match (ebcdic, ibm) {
        (true, _) => (charsets::TO_EBCDIC[usize::from(b'\n')], charsets::TO_EBCDIC[usize::from(b' ')]),
        (_, true) => (charsets::TO_IBM[usize::from(b'\n')], charsets::TO_IBM[usize::from(b' ')]),
        _ => (b'\n', b' '),
    };
    Ok(Some(Framing { kind, record_bytes, newline, space }))
}

/// The value that replaces each byte. The case of letters, as in the locale, is changed while bytes are ASCII:
/// before a conversion from ASCII, after a conversion to it.
fn table(conversions: &Conversions) -> Option<Box<[u8; 256]>> {
    let Conversions { ascii, ebcdic, ibm, lcase, ucase, .. } = *conversions;
    if !(ascii || ebcdic || ibm || lcase || ucase) {
        return None;
    }
    let case = (lcase || ucase).then(|| in_case(ucase));
    let cased = |byte: u8| case.map_or(byte, |case| case[usize::from(byte)]);
    let becomes = |byte: u8| match (ascii, ebcdic, ibm) {
        (true, _, _) => cased(charsets::TO_ASCII[usize::from(byte)]),
        (_, true, _) => charsets::TO_EBCDIC[usize::from(cased(byte))],
        (_, _, true) => charsets::TO_IBM[usize::from(cased(byte))],
        _ => cased(byte),
    };
    Some(Box::new(std::array::from_fn(|byte| becomes(byte as u8))))
}

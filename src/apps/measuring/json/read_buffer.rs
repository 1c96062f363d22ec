//! The result of `haul profile --read-buffer` as JSON.
use super::{ended, failure, line, subject};
use crate::apps::measuring::report::Run;
use crate::core::OwnBuffer;
use crate::measure::{BufferCost, BufferOptions, BufferWayCosts, ReadBuffer, SeedFigures};
use crate::report::json::{SCHEMA, command_line, object};
use serde::Serialize;

/// What `haul profile --read-buffer --json` prints.
pub fn read_buffer(run: &Run<'_>, options: &BufferOptions, found: &ReadBuffer) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "read_buffer",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        buffer: if options.which == OwnBuffer::Echo { "echo" } else { "data" },
        buffer_bytes: found.capacity_bytes,
        ways: found.ways.iter().map(way).collect::<Vec<_>>(),
        refused: &found.refused,
        warnings: run.warnings,
    }
}

fn way(way: &BufferWayCosts) -> impl Serialize + use<> {
    let cost = |cost: &BufferCost| {
        object! {
            bytes: cost.bytes,
            seconds: cost.seconds,
            bytes_per_s: cost.bytes_per_s(),
            cpu_share: cost.cpu_share,
            runs: cost.runs,
        }
    };
    object! {
        way: way.way.name(),
        commands: way.costs.iter().map(cost).collect::<Vec<_>>(),
        fit: way.fit.map(line),
        formula_of_2001: way.seed.map(formula),
        driver_copied: way.driver_copied,
    }
}

fn formula(figures: SeedFigures) -> impl Serialize {
    object! {
        latency_s: figures.latency_s,
        bytes_per_s_after_latency: Some(figures.after_latency_per_s).filter(|rate| rate.is_finite()),
        best_bytes_per_s: figures.best_per_s,
        worst_bytes_per_s: figures.worst_per_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::measuring::report::read_buffer_example as found;
    use crate::core::{EndpointKind, EngineKind, Facts, Op};
    use serde_json::{Value, json};

    /// The schema of this report, which rejects fields that it does not define. No test machine has such a
    /// disk, so the report is an example.
    fn validator() -> jsonschema::Validator {
        fn closed(schema: &mut Value) {
            match schema {
                Value::Object(object) => {
                    object.values_mut().for_each(closed);
                    if object.contains_key("properties") {
                        object.insert("additionalProperties".to_owned(), json!(false));
                    }
                }
                Value::Array(values) => values.iter_mut().for_each(closed),
                _ => {}
            }
        }
        let mut schema: Value =
            serde_json::from_str(include_str!("../../../../docs/schema/report.schema.json")).unwrap();
        closed(&mut schema);
        let object = schema.as_object_mut().unwrap();
        object.remove("oneOf");
        object.insert("$ref".to_owned(), json!("#/$defs/read_buffer"));
        jsonschema::validator_for(&schema).unwrap()
    }

    #[test]
    fn the_report_matches_the_schema() {
        let facts = Facts::new("/dev/sg3", EndpointKind::Block);
        let run = Run {
            words: &[],
            facts: &facts,
            op: Op::Read,
            written: None,
            engine: EngineKind::Ring,
            bad: &[],
            failed: 0,
            warnings: &[],
            label: None,
        };
        let report = serde_json::to_value(read_buffer(&run, &BufferOptions::default(), &found())).unwrap();
        let validator = validator();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{report:#}");
        for field in ["buffer_bytes", "ways", "refused"] {
            let mut lacking = report.clone();
            lacking.as_object_mut().unwrap().remove(field);
            assert!(!validator.is_valid(&lacking), "{field}");
        }
    }
}

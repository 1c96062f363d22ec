//! What was measured, for programs.
mod commands;
mod lethargy;
mod profile;
mod sustained;
mod tune;

pub use commands::CommandsReport;
pub use lethargy::{EffectReport, LethargyReport};
pub use profile::{
    CommandReport, FitReport, PositionReport, ProfileFound, ProfileReport, TimingFound, TimingReport, WayReport,
    profile, timing,
};
pub use sustained::{StageReport, StepReport, SustainedFound, SustainedReport, sustained};
pub use tune::{
    AnswerReport, BadReport, ExtentReport, PointReport, SubjectReport, TrialReport, TuneFound, TuneReport, tune,
};

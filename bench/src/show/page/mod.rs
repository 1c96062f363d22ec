//! Results as one self-contained HTML page: without scripts, fonts or other files.
//!
//! `view` and `chart` compute the contents of the templates, as text and positions; the templates only place them,
//! and minijinja escapes everything. `curves` draws with the charts of haul's own pages, which are already escaped.
mod chart;
mod curves;
mod sweep;
mod view;

use crate::result::Results;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

/// The page.
pub fn page(results: &Results) -> String {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the delimiters are the usual ones"));
    let files = [
        ("page", include_str!("page.html")),
        ("bed", include_str!("bed.html")),
        ("sweep", include_str!("sweep.html")),
        ("chart", include_str!("chart.svg")),
        ("curves", include_str!("curves.html")),
        ("claims", include_str!("claims.html")),
        ("style", include_str!("style.css")),
    ];
    for (name, source) in files {
        templates.add_template(name, source).expect("the templates are part of the program and parse");
    }
    let page = templates.get_template("page").expect("it was added above");
    page.render(Serde(view::Page::of(results))).expect("each name in the templates is a field of the view")
}

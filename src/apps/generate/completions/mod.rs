//! Shell completions: clap's script for the definition, with values and paths that clap does not know.
use crate::apps::command::Command;
use crate::apps::definition::definition_without;
use crate::core::BEGINNINGS;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

/// Values offered for options that are strings to clap. Options that accept any number have an example.
const VALUES: &[(&str, &[&str])] = &[
    ("on-error", &["stop", "skip", "retry:3", "retry:3,skip"]),
    ("verify", &["all", "afterwards", "sample:1%"]),
    ("expect", &["serial=", "model=", "wwn=", "size=", "etag="]),
];

/// The completions for `shell`. `hidden` is a command that is not offered.
pub(super) fn script(shell: Shell, commands: &[Command], hidden: &str) -> String {
    let mut haul = definition_without(commands, hidden);
    haul.build();
    let names: Vec<String> = haul.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let mut haul = with_values(haul, &names);
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut haul, "haul", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    let taking_paths = taking_paths(&haul, &[]);
    match shell {
        Shell::Bash => bash(&script, &taking_paths, &names),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(script, &taking_paths, &names),
        _ => script,
    }
}

/// The command and its subcommands, with values that shells can offer; no file names where a string is
/// required.
fn with_values(command: clap::Command, names: &[String]) -> clap::Command {
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let is_help = command.get_name() == "help";
    let command = command.mut_args(|arg| {
        let values = VALUES.iter().find(|(name, _)| arg.get_long() == Some(name)).map(|(_, values)| *values);
        let takes_text = arg.get_action().takes_values() && arg.get_value_hint() == ValueHint::Unknown;
        match values {
            Some(values) => arg.value_parser(PossibleValuesParser::new(values)),
            None if is_help && arg.is_positional() => arg.value_parser(PossibleValuesParser::new(names.to_vec())),
            None if takes_text && arg.get_possible_values().is_empty() => arg.value_hint(ValueHint::Other),
            None => arg,
        }
    });
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |below| with_values(below, names)))
}

/// The commands, each as its words after `haul`, that have a device or file as an operand.
fn taking_paths(command: &clap::Command, words: &[String]) -> Vec<Vec<String>> {
    let is_path = |arg: &clap::Arg| matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath);
    let takes = !words.is_empty() && command.get_positionals().any(is_path);
    let below = command.get_subcommands().flat_map(|below| {
        let words: Vec<String> = words.iter().cloned().chain([below.get_name().to_owned()]).collect();
        taking_paths(below, &words)
    });
    takes.then(|| words.to_vec()).into_iter().chain(below).collect()
}

/// Completes operands as paths if the command has any, and commands after `haul help`. bash splits a word at
/// `=`.
fn bash(script: &str, taking_paths: &[Vec<String>], names: &[String]) -> String {
    let of_paths: Vec<String> =
        taking_paths.iter().map(|words| format!("        haul__subcmd__{})", words.join("__subcmd__"))).collect();
    let (mut text, mut in_paths, mut in_help) = (String::new(), false, false);
    for line in script.lines() {
        if line.starts_with("        haul") && line.ends_with(')') {
            in_paths = of_paths.iter().any(|head| head == line);
            in_help = line == "        haul__subcmd__help)";
        }
        text += &match line {
            "    cmd=\"\"" => format!("{BEHIND_EQUALS}{line}"),
            _ if in_help && line.starts_with("            opts=") => {
                format!("            opts=\"{}\"", names.join(" "))
            }
            _ if in_paths && line.starts_with("            if [[ ${cur} == -* ||") => {
                "            if [[ ${cur} == -* ]] ; then".to_owned()
            }
            "            COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )" if in_paths => {
                "            _haul_paths \"${cur}\"".to_owned()
            }
            _ => line.to_owned(),
        };
        text.push('\n');
    }
    text + &with_schemes(include_str!("paths.bash"))
}

const BEHIND_EQUALS: &str = "    if [[ ${cur} == \"=\" ]]; then
        cur=\"\"
    elif [[ ${prev} == \"=\" ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    fi
";

/// Completes operands as paths.
fn zsh(script: &str) -> String {
    let operand = |line: &str| line.starts_with("':") && line.contains(":_files'");
    let line = |line: &str| match operand(line) {
        true => line.replace(":_files'", ":_haul_paths'"),
        false => line.replace("]:DST:_files'", "]:DST:_haul_paths'"),
    };
    let lines: String = script.lines().map(|each| line(each) + "\n").collect();
    lines.replacen("\n_haul() {", &format!("{}_haul() {{", with_schemes(include_str!("paths.zsh"))), 1)
}

/// Offers devices, which fish would offer only after `/dev/`; no files for commands without operands.
fn fish(script: String, taking_paths: &[Vec<String>], names: &[String]) -> String {
    let condition = |words: &[String]| match words {
        [command, verb] => format!("__fish_haul_using_subcommand {command}; and __fish_seen_subcommand_from {verb}"),
        _ => format!("__fish_haul_using_subcommand {}", words.join(" ")),
    };
    let rule =
        |words: &Vec<String>| format!("complete -c haul -n \"{}\" -a \"(__fish_haul_devices)\"\n", condition(words));
    let none = |command: &str| format!("complete -c haul -n \"__fish_haul_using_subcommand {command}\" -f");
    let rest = format!("{}\n{}\n{} -a \"{}\"\n", none("list"), none("version"), none("help"), names.join(" "));
    let takes_addresses = |words: &&Vec<String>| matches!(words[0].as_str(), "copy" | "verify" | "pattern");
    let addresses: String = taking_paths
        .iter()
        .filter(takes_addresses)
        .map(|words| format!("complete -c haul -n \"{}\" -a \"(__fish_haul_addresses)\"\n", condition(words)))
        .collect();
    let rules = taking_paths.iter().map(rule).collect::<String>() + &addresses;
    script + &with_schemes(include_str!("paths.fish")) + &rules + &rest
}

/// The script with the beginnings of addresses.
fn with_schemes(script: &str) -> String {
    let all: Vec<&str> = BEGINNINGS.iter().map(|(start, _)| *start).collect();
    let described: Vec<String> = BEGINNINGS.iter().map(|(start, what)| format!("{start} '{what}'")).collect();
    script.replace("@SCHEMES@", &all.join(" ")).replace("@DESCRIBED@", &described.join(" "))
}

"""Completion scripts for shells, generated from the parser."""

import argparse
from collections.abc import Iterator, Mapping

SHELLS = ("bash", "zsh", "fish")
NAMES = "__names"
"""The command that completes names of scenarios, runs, queues and so on, given the preceding words."""
_PROGRAM = "queuecast"

Path = tuple[str, ...]
"""A chain of commands, such as `scenario`, `branch`."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that a shell reads."""
    words = dict(_words(parser, ()))
    if shell == "fish":
        return _fish(words)
    before = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return before + _bash(words)


def chains(parser: argparse.ArgumentParser) -> list[Path]:
    """Return every command with the words that lead to it."""
    paths = [path for path, _ in _words(parser, ()) if path]
    return [path for path in paths if not any(other[:-1] == path for other in paths)]


def _words(parser: argparse.ArgumentParser, path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield what can follow each chain of commands: further commands, choices, options."""
    commands: dict[str, argparse.ArgumentParser] = {}
    options = (option for action in parser._actions for option in action.option_strings)
    following = [option for option in options if option.startswith("--")]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = dict(action.choices)
        elif action.choices and not action.option_strings:
            following += map(str, action.choices)
    yield path, [*commands, *following]
    for name, command in commands.items():
        yield from _words(command, (*path, name))


def _bash(words: Mapping[Path, list[str]]) -> str:
    cases = "\n".join(
        f'    "{" ".join(path)}") words="{" ".join(following)}" ;;' for path, following in words.items()
    )
    chains = " ".join(f'"{" ".join(path)}"' for path in words if path)
    return f"""\
_{_PROGRAM}() {{
  local path="" word words chain
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    for chain in {chains}; do
      if [ "$chain" = "${{path:+$path }}$word" ]; then path="$chain"; break; fi
    done
  done
  case "$path" in
{cases}
  esac
  case "${{COMP_WORDS[COMP_CWORD]}}" in
    -*) ;;
    *) words="$words $(queuecast {NAMES} "${{COMP_WORDS[@]:1:COMP_CWORD-1}}" 2> /dev/null)" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _{_PROGRAM} {_PROGRAM}
"""


def _fish(words: Mapping[Path, list[str]]) -> str:
    lines = []
    for path, following in words.items():
        conditions = [f"__fish_seen_subcommand_from {word}" for word in path]
        if deeper := sorted({other[-1] for other in words if other and other[:-1] == path}):
            conditions.append(f"not __fish_seen_subcommand_from {' '.join(deeper)}")
        start = f'complete -c {_PROGRAM} -n "{"; and ".join(conditions)}"'
        names = [word for word in following if not word.startswith("--")]
        lines += [f'{start} -a "{" ".join(names)}"'] if names else []
        lines += [f"{start} -a '({_PROGRAM} {NAMES} (commandline -opc)[2..] 2> /dev/null)'"]
        lines += [f"{start} -l {word[2:]}" for word in following if word.startswith("--")]
    return "\n".join(lines) + "\n"

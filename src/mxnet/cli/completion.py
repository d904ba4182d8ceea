"""`remx completion SHELL`: a script that completes commands, their options and files."""

import argparse
from importlib import import_module
from typing import NamedTuple

_BASH = """_remx() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} flags= choices=
    if [ "$COMP_CWORD" -eq 1 ]; then
        flags="--help --version" choices="{commands}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    case "$current" in
        -*) choices="$flags" ;;
    esac
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
}}
complete -o default -F _remx remx
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
# How to use it: bash and zsh evaluate the script in their start file, fish reads a folder
USES = {
    "bash": 'eval "$(remx completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(remx completion zsh)" in ~/.zshrc',
    "fish": "remx completion fish > ~/.config/fish/completions/remx.fish",
}


def add(parser):
    """The command's own options."""
    parser.epilog = "; ".join(USES.values())
    parser.add_argument("shell", choices=sorted(USES))


# The parsers of tools, in modules that load quickly: a shell runs this command whenever it starts.
_PARSERS = {"demo": "mxnet.tools.demo_options", "im2rec": "mxnet.tools.im2rec", "launch": "mxnet.tools.launch"}


class Known(NamedTuple):
    """What can follow a command: its options, and the words that an argument without a name may be."""

    text: str
    options: list
    choices: list


def _known(text, parser):
    seen = [action for action in parser._actions if action.help is not argparse.SUPPRESS]
    options = sorted(option for action in seen for option in action.option_strings)
    choices = [str(one) for action in seen if not action.option_strings for one in action.choices or ()]
    return Known(text, options, choices)


def _command(module, text):
    parser = argparse.ArgumentParser()
    import_module(f"{__package__}.{module}").add(parser)
    return _known(text, parser)


def _tool(name, text):
    """`remx run` has the options of the program that it runs."""
    return _known(text, import_module(_PARSERS[name]).parser()) if name in _PARSERS else Known(text, ["--help"], [])


def commands():
    """{command: Known}."""
    from . import _COMMANDS, _TOOLS

    found = {name: _command(module, text) for name, (module, text) in _COMMANDS.items()}
    return found | {name: _tool(name, text) for name, (_, text) in _TOOLS.items()}


def _bash(found):
    cases = "\n".join(
        f'            {name}) flags="{" ".join(known.options)}" choices="{" ".join(known.choices)}" ;;'
        for name, known in found.items()
    )
    return _BASH.format(commands=" ".join(found), cases=cases)


def _fish_text(text):
    """A text in fish's quotes, where only these two characters are special."""
    return "'" + text.replace("\\", r"\\").replace("'", r"\'") + "'"


def _fish(found):
    lines = []
    for name, known in found.items():
        lines.append(f"complete -c remx -f -n __fish_use_subcommand -a {name} -d {_fish_text(known.text)}")
        after = f"complete -c remx -n '__fish_seen_subcommand_from {name}'"
        if known.choices:
            lines.append(f"{after} -f -a '{' '.join(known.choices)}'")
        for option in known.options:
            kind = "l" if option.startswith("--") else "s" if len(option) == 2 else "o"
            lines.append(f"{after} -{kind} {option.lstrip('-')}")
    return "\n".join(lines) + "\n"


def run(options):
    """Print the script."""
    found = commands()
    shells = {"bash": _bash, "zsh": lambda known: _ZSH + _bash(known), "fish": _fish}
    print(shells[options.shell](found), end="")

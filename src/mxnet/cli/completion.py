"""`remx completion SHELL`: a script that completes commands, their options and files."""

import argparse
from importlib import import_module

_BASH = """_remx() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
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


def _options(parser):
    return sorted(option for action in parser._actions for option in action.option_strings)


def _command_options(module):
    parser = argparse.ArgumentParser()
    import_module(f"{__package__}.{module}").add(parser)
    return _options(parser)


def commands():
    """{command: (what it does, its options)}; tools parse their own arguments and have files only."""
    from . import _COMMANDS, _TOOLS

    found = {name: (text, _command_options(module)) for name, (module, text) in _COMMANDS.items()}
    return found | {name: (text, ["--help"]) for name, (_, text) in _TOOLS.items()}


def _bash(found):
    cases = "\n".join(f'            {name}) words="{" ".join(options)}" ;;' for name, (_, options) in found.items())
    return _BASH.format(commands=" ".join(found), cases=cases)


def _fish(found):
    lines = []
    for name, (text, options) in found.items():
        text = text.replace("'", "\\\\'")
        lines.append(f"complete -c remx -n __fish_use_subcommand -a {name} -d '{text}'")
        for option in options:
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            lines.append(f"complete -c remx -n '__fish_seen_subcommand_from {name}' {flag}")
    return "\n".join(lines) + "\n"


def run(options):
    """Print the script."""
    found = commands()
    shells = {"bash": _bash, "zsh": lambda known: _ZSH + _bash(known), "fish": _fish}
    print(shells[options.shell](found), end="")

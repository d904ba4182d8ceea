"""Hooks of the documentation site: each page's language switch leads to the same page in the other language."""

from pathlib import Path

from mkdocs.structure.files import File

PAGES = Path(__file__).parent
_PLACES = {"en": "/__in_english__", "zh": "/__in_chinese__"}  # the theme leaves links that begin with / as they are


def on_config(config):
    """The switch itself; where it leads is told for each page."""
    names = {"en": "English", "zh": "简体中文"}
    config["extra"]["alternate"] = [{"name": names[lang], "link": _PLACES[lang], "lang": lang} for lang in names]
    return config


def on_files(files, config):
    """Pictures are kept once, for both languages."""
    if Path(config["docs_dir"]) != PAGES:
        for picture in (PAGES / "images").iterdir():
            files.append(File.generated(config, f"images/{picture.name}", abs_src_path=str(picture)))
    return files


def on_post_page(output, page, config):
    """Put the links in; they are relative, so that the site works in any folder."""
    chinese = Path(config["docs_dir"]).name == "zh"
    other = (PAGES if chinese else PAGES / "zh") / page.file.src_uri
    target = page.url if other.is_file() else ""
    up = "../" * page.url.strip("./").count("/") + ("../" if page.url.strip("./") else "")
    here, there = "./", f"{up}../{target}" if chinese else f"{up}zh/{target}"
    links = {"zh": here, "en": there} if chinese else {"en": here, "zh": there}
    for language, place in _PLACES.items():
        output = output.replace(place, links[language])
    return output


def on_post_template(output_content, template_name, config):
    """Pages without a place of their own, such as 404.html, lead to the two home pages."""
    return output_content.replace(_PLACES["en"], "/").replace(_PLACES["zh"], "/zh/")

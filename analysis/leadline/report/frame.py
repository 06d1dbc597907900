# SPDX-License-Identifier: Apache-2.0
"""What all pages have in common: one file with its style, script and data inside, which fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from leadline.benchmarks import BENCHMARKS
from leadline.model import RunResult
from leadline.text.run import provenance_facts

GENERATOR = "leadline report"
_WITHOUT_SCRIPT = (
    "Charts are drawn by a script inside this page, and scripts are switched off. The tables have the numbers."
)
_POLICY = ("default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'")


def is_own_report(head: str) -> bool:
    """Whether a file that begins so is an earlier report, which a new one may replace."""
    return f'<meta name="generator" content="{GENERATOR}' in head


def html_page(
    template: str, result: RunResult, *, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any],
    is_served: bool = False, without_script: str = _WITHOUT_SCRIPT, **context: Any,
) -> str:  # fmt: skip
    """A page from its template, the names of its styles and scripts, and its scripts' data by the ids of their
    elements. Files are the benchmark's own or shared. Everything from the file is escaped.
    """
    environment = _environment("leadline.report", BENCHMARKS[result.benchmark])
    script = _script(environment, scripts)
    return environment.get_template(template).render(
        generator=GENERATOR,
        style=Markup("\n".join(_source(environment, name) for name in styles)),
        script=Markup(script),
        policy=_policy(script, is_served),
        data={name: Markup(_json_for_html(value)) for name, value in data.items()},
        result=result,
        warnings=[finding for finding in result.findings if finding.severity == "warning"],
        is_served=is_served,
        without_script=without_script,
        provenance=provenance_facts(result),
        **context,
    )


def plain_page(template: str, **context: Any) -> str:
    """A page of text, tables and pictures, without a script; its style is report.css and that of the template's name.
    All of the context is escaped.
    """
    environment = _environment("leadline.report")
    styles = ("report.css", template.replace(".html.j2", ".css"))
    return environment.get_template(template).render(
        generator=GENERATOR,
        style=Markup("\n".join(_source(environment, name) for name in styles)),
        policy="; ".join((*_POLICY, "img-src data:")),
        **context,
    )


def address_of_png(picture: bytes) -> str:
    """What an img element shows, with the picture inside."""
    return "data:image/png;base64," + base64.b64encode(picture).decode("ascii")


def _environment(*packages: str) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(environment: jinja2.Environment, name: str) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def _script(environment: jinja2.Environment, scripts: Sequence[str]) -> str:
    """All scripts in one function: what one declares, only later ones see."""
    parts = "\n".join(_source(environment, name) for name in scripts)
    return f'"use strict";\n(function () {{\n{parts}\n}})();\n'


def _policy(script: str, is_served: bool) -> str:
    """Nothing is fetched, and only this script is run; a served page may ask its server."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    rules = [*_POLICY, f"script-src 'sha256-{digest}'", *(["connect-src 'self'"] if is_served else [])]
    return "; ".join(rules)


def _json_for_html(value: object) -> str:
    """JSON that cannot end a script element, whatever the strings in it are."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

# SPDX-License-Identifier: Apache-2.0
"""The command `leadline report`: options, statuses, and what it may overwrite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import sweep, write_result
from leadline.cli.report import main as report_main


def test_the_page_lies_beside_the_result(result_file: Path, capsys: pytest.CaptureFixture[str]):
    assert report_main([str(result_file)]) == 0
    page = result_file.with_suffix(".html")
    assert capsys.readouterr().out == f"{page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in sorted(page.parent.iterdir())] == ["run.h5", "run.html"]


def test_an_earlier_report_is_replaced(result_file: Path, tmp_path: Path):
    page = tmp_path / "page.html"
    assert report_main([str(result_file), "-o", str(page)]) == 0
    first = page.read_text(encoding="utf-8")
    assert report_main([str(result_file), "--output", str(page), "--statistic", "max"]) == 0
    assert page.read_text(encoding="utf-8") != first


def test_other_files_are_not(result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><title>mine</title>")
    assert report_main([str(result_file), "-o", str(page)]) == 2
    assert capsys.readouterr().err == (
        f"leadline: cannot write '{page}' (it is there and was not written by this command). Use --overwrite\n"
    )
    assert "mine" in page.read_text()
    assert report_main([str(result_file), "-o", str(page), "--overwrite"]) == 0
    assert "<title>mine" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "begin"), [("pdf", b"%PDF-"), ("PNG", b"\x89PNG"), ("ps", b"%!PS-Adobe")])
def test_the_name_says_what_is_written(result_file: Path, kind: str, begin: bytes, capsys: pytest.CaptureFixture[str]):
    sheet = result_file.with_suffix(f".{kind}")
    sheet.write_bytes(begin + b" of someone else")
    assert report_main([str(result_file), "-o", str(sheet)]) == 2
    assert "was not written by this command" in capsys.readouterr().err
    assert sheet.read_bytes().endswith(b"someone else")
    assert report_main([str(result_file), "-o", str(sheet), "--overwrite"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (f"{sheet}\n", "")
    first = sheet.read_bytes()
    assert first.startswith(begin)
    assert report_main([str(result_file), "-o", str(sheet), "--statistic", "max"]) == 0, "its own is replaced"
    assert sheet.read_bytes() != first
    assert sorted(path.name for path in sheet.parent.iterdir()) == sorted(["run.h5", sheet.name])


def test_to_stdout(result_file: Path, capsys: pytest.CaptureFixture[str]):
    assert report_main([str(result_file), "-o", "-"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("</html>")
    assert not result_file.with_suffix(".html").exists()


def test_only_one_size_and_repeat(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_result(tmp_path / "run.h5", sweep())
    assert report_main([str(path), "-o", "-", "--message-size", "1MiB", "--repeat", "2"]) == 0
    page = capsys.readouterr().out
    data = json.loads(page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])
    assert [(part["repeat"], part["message_size_bytes"]) for part in data["parts"]] == [(1, 1 << 20)]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "the following arguments are required: RESULT"),
        (["RUN", "--frobnicate"], "unknown option --frobnicate. See leadline report --help"),
        (["RUN", "--stat", "max"], "unknown option --stat. Did you mean --statistic?"),
        (["RUN", "--statistic", "mode"], "invalid choice: 'mode'"),
        (["RUN", "--output"], "expected one argument"),
        (["RUN", "--message-size", "8", "--message-size", "9"], "--message-size is given twice"),
        (["RUN", "--message-size", "-5"], "--message-size -5 is not a size"),
        (["RUN", "--message-size", "big"], "--message-size big is not a size"),
        (["RUN", "--message-size", "3KiB"], "the result has no message size 3 KiB. It has 1 KiB"),
        (["RUN", "--repeat", "2"], "the result has no repeat 2. It has 1"),
        (["RUN", "-o", "page.svg"], "End it in .html, .pdf, .png or .ps"),
        (["RUN", "-o", "page"], "End it in .html, .pdf, .png or .ps"),
        (["RUN", "-o", "nowhere/sheet.pdf"], "no such folder"),
        (["RUN", "-o", "nowhere/page.html"], "no such folder"),
        (["none.h5"], "No such file"),
    ],
)
def test_wrong_command_lines(result_file: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]):
    words = [str(result_file) if word == "RUN" else word for word in arguments]
    assert report_main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("leadline: ")
    assert captured.err.count("\n") == 1
    assert reason in captured.err


@pytest.mark.parametrize(("length", "kind"), [(5000, "html"), (5000, "pdf"), (0, "png")])
def test_a_damaged_result(result_file: Path, length: int, kind: str, capsys: pytest.CaptureFixture[str]):
    result_file.write_bytes(result_file.read_bytes()[:length])
    out = result_file.with_suffix(f".{kind}")
    assert report_main([str(result_file), "-o", str(out)]) == 4
    assert capsys.readouterr().err.startswith(f"leadline: cannot read '{result_file}' (")
    assert not out.exists()


@pytest.mark.parametrize("name", ["a \u00fc b".encode(), b"a \xfc b"], ids=["UTF-8", "Latin-1"])
def test_names_in_any_encoding(result_file: Path, name: bytes):
    """In the folder and in the file's own name; also where the terminal cannot show them."""
    folder = result_file.with_name(os.fsdecode(name))
    folder.mkdir()
    result = result_file.rename(folder / os.fsdecode(name + b".h5"))
    command = [sys.executable, "-c", "from leadline.cli.report import main; raise SystemExit(main())", str(result)]
    for encoding in ("utf-8:strict", "ascii:strict"):
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        ended = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert ended.stdout.endswith(b".html\n")
    assert "<html" in result.with_suffix(".html").read_text(encoding="utf-8")


def test_a_name_is_no_command_for_the_terminal(result_file: Path, capsys: pytest.CaptureFixture[str]):
    assert report_main([str(result_file.with_name("a\x1b[31m\x9bb.h5"))]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("leadline: cannot read '")
    assert "/a?[31m?b.h5' (No such file or directory)" in captured.err
    assert report_main([str(result_file), "-o", str(result_file.with_name("a\x1b[31m.png"))]) == 0
    assert capsys.readouterr().out.endswith("/a?[31m.png\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk(result_file: Path):
    command = [sys.executable, "-c", "from leadline.cli.report import main; raise SystemExit(main())"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*command, str(result_file), "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 4
    assert ended.stderr == "leadline: cannot write to standard output (No space left on device).\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(result_file: Path, capsys: pytest.CaptureFixture[str]):
    result_file.parent.chmod(0o500)
    try:
        assert report_main([str(result_file)]) == 3
        assert "Permission denied" in capsys.readouterr().err
    finally:
        result_file.parent.chmod(0o700)


def test_help_and_version(capsys: pytest.CaptureFixture[str]):
    for word in ("--help", "--version"):
        with pytest.raises(SystemExit) as ended:
            report_main([word])
        assert ended.value.code == 0
        assert "leadline report" in capsys.readouterr().out

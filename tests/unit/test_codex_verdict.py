"""How a run ended, judged from what Codex says; the sentences are those of the real program."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.codex.verdict import Evidence, judge, resume_time

TOKYO = timezone(timedelta(hours=9))
NOW = datetime(2026, 11, 30, 20, 15, 30, tzinfo=TOKYO)


def evidence(**changes: object) -> Evidence:
    fields: dict[str, object] = {
        "ended": "itself",
        "code": 1,
        "completed": False,
        "failure": None,
        "last_error": None,
        "last_message": "",
        "started": True,
        "stderr": "",
    }
    return Evidence.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("message", "end"),
    [
        ("You\u2019ve hit your usage limit. Try again later.", "usage-limit"),
        ("You've hit your usage limit ... or try again at 9:43 PM.", "usage-limit"),
        ("To use Codex with your ChatGPT plan, upgrade to Plus: https://x", "usage-limit"),
        ("Upgrade to Pro (https://chatgpt.com/explore/pro)", "usage-limit"),
        ("Quota exceeded. Check your plan and billing details.", "usage-limit"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "usage-limit"),
        ("rate limit exceeded: Please try again in 11.054s.", "usage-limit"),
        ("unexpected status 401 Unauthorized: bad key, url: http://x", "unreachable"),
        ("unexpected status 403 Forbidden: no, url: http://x", "unreachable"),
        ("We\u2019re currently experiencing high demand, which may", "unreachable"),
        ("Selected model is at capacity. Please try a different model.", "unreachable"),
        ("unexpected status 502 Bad Gateway: x, url: http://x", "unreachable"),
        ("Missing environment variable: `KEY`.", "not-started"),
        ("unexpected status 404 Not Found: x", "incomplete"),
        ('{"error": {"message": "bad request"}}', "incomplete"),
        ("stream disconnected before completion: oops", "incomplete"),
        ("Incomplete response returned, reason: max_output_tokens", "incomplete"),
        ("Codex ran out of room in the model's context window.", "incomplete"),
    ],
)
def test_a_failed_turn(message: str, end: str) -> None:
    judged = judge(evidence(failure=message), now=NOW)
    assert judged.end == end
    assert message[:20].replace("\n", " ") in judged.message


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"code": 0, "completed": True, "last_message": "done"}, "complete"),
        ({"code": 0, "completed": True, "last_message": " \n"}, "incomplete"),
        ({"code": 0, "completed": False, "last_message": "done"}, "incomplete"),
        ({"code": 1, "completed": True, "last_message": "done"}, "incomplete"),
        ({"code": 0, "completed": True, "last_message": "d", "failure": "x"}, "incomplete"),
        ({"code": -9, "last_message": "done"}, "incomplete"),
        ({"code": -15, "started": False}, "incomplete"),
        ({"code": 2, "started": False, "stderr": "error: unexpected argument"}, "not-started"),
        ({"code": 1, "started": False, "stderr": "Error: bad schema"}, "not-started"),
        ({"code": 1, "started": False, "stderr": "Error: no rollout found for"}, "incomplete"),
        ({"ended": "timeout", "code": -15}, "timeout"),
        ({"ended": "silent", "code": -15, "last_error": "usage limit"}, "silent"),
        ({"ended": "stopped", "code": 0, "completed": True, "last_message": "d"}, "stopped"),
        ({"ended": "asked", "code": -15, "last_error": "waiting for network"}, "unreachable"),
        ({"ended": "flood", "code": -15}, "incomplete"),
    ],
)
def test_an_end(changes: dict[str, object], end: str) -> None:
    judged = judge(evidence(**changes), now=NOW)
    assert judged.end == end
    assert judged.message


def test_the_model_cannot_feign_a_usage_limit_through_stderr() -> None:
    stderr = "ERROR codex_core::tools::router: error=You've hit your usage limit"
    assert judge(evidence(code=-9, stderr=stderr), now=NOW).end == "incomplete"


def test_messages_are_safe() -> None:
    judged = judge(evidence(failure="\x1b[2J\n" + "x" * 5000), now=NOW)
    assert "\x1b" not in judged.message
    assert "\n" not in judged.message
    assert len(judged.message) < 500


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("try again at 9:43 PM.", datetime(2026, 11, 30, 21, 43, tzinfo=TOKYO)),
        ("try again at 9:43\u202fPM.", datetime(2026, 11, 30, 21, 43, tzinfo=TOKYO)),
        ("try again at 21:43.", datetime(2026, 11, 30, 21, 43, tzinfo=TOKYO)),
        ("try again at 12:05 AM.", datetime(2026, 12, 1, 0, 5, tzinfo=TOKYO)),
        ("try again at 7:00 AM.", datetime(2026, 12, 1, 7, 0, tzinfo=TOKYO)),
        ("try again at 8:10 PM.", NOW + timedelta(minutes=2)),
        ("try again at Dec 3rd, 2026 11:49 PM.", datetime(2026, 12, 3, 23, 49, tzinfo=TOKYO)),
        ("Try again at January 1st, 2027 1:00 AM", datetime(2027, 1, 1, 1, 0, tzinfo=TOKYO)),
        ("try again in 3 days 4 hours 5 minutes.", NOW + timedelta(days=3, hours=4, minutes=5)),
        ("try again in 1 hour and 2 minutes", NOW + timedelta(hours=1, minutes=2)),
        ("Try again later.", None),
        ("try again at 25:99.", None),
        ("try again at Xyz 3rd, 2026 1:00 AM", None),
        ("try again at Feb 31st, 2026 1:00 AM", None),
    ],
)
def test_the_end_of_a_limit(said: str, at: datetime | None) -> None:
    assert resume_time(said, now=NOW) == at


@given(st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2099, 1, 1)), st.data())  # noqa: DTZ001 - zone added below
def test_a_clock_time_means_the_next_one(now: datetime, data: st.DataObject) -> None:
    here = now.replace(tzinfo=UTC)
    hour, minute = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 59))
    half = data.draw(st.sampled_from(["AM", "PM"]))
    at = resume_time(f"try again at {hour}:{minute:02} {half}.", now=here)
    assert at is not None
    assert timedelta(0) < at - here <= timedelta(days=1)


@given(st.text(max_size=80))
def test_no_text_breaks_it(said: str) -> None:
    resume_time("try again at " + said, now=NOW)
    resume_time("try again in " + said, now=NOW)

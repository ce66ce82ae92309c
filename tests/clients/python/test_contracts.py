"""The official Python SDK, unchanged, in each contract version: all five calls, and one error of each kind.

What a caller sees of the errors is a table of docs/clients.md. It has to be what is seen here; with UPDATE_DOCS set it
is written anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from a2a.client import A2AClientError, ClientCallContext
from a2a.helpers.proto_helpers import get_data_parts
from a2a.types.a2a_pb2 import GetTaskRequest, TaskPushNotificationConfig
from a2a.utils.errors import A2AError

from aap_error import aap_error, answered
from buyer import Buyer

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "clients.md"
ERRORS = (HERE.parent / "errors.json").read_text(encoding="utf-8")
ORIGIN = os.environ.get("FORECOURT_PUBLIC_ORIGIN", "")
KEY = os.environ.get("FORECOURT_TEST_KEY", "")
#: Only builds with fault injection can have a dealer that fails inside.
FAULTS = os.environ.get("FORECOURT_TEST_FAULTS") == "yes"
VERSIONS = ("v1.3", "latest", "v3.0")
BEGIN, END = "<!-- python -->\n", "<!-- end of python -->\n"


def base(dealer: str, version: str) -> str:
    return f"{ORIGIN}/t/{dealer}/{version}/"


def lead(stock: str) -> dict[str, Any]:
    """A lead of a shopper whom nobody has seen before."""
    shopper = uuid.uuid4().hex
    now = datetime.now(timezone.utc)
    return {
        "customer": {"first_name": "Ilse", "last_name": "Marchetti", "email": f"{shopper}@post.example"},
        "consent": {
            "granted_at": (now - timedelta(minutes=5)).isoformat(timespec="seconds"),
            "allowed_channels": ["email"],
            "consent_text": "The dealer may write to me about this car.",
            "scope": ["lead_submission"],
        },
        "source_agent": {"name": "a2a-sdk tests"},
        "vehicle_of_interest": {"stock": stock},
        "message": "Is it still there?\u0000",
        "idempotency_key": shopper,
    }


class Calls(unittest.IsolatedAsyncioTestCase):
    async def buyer(self, dealer: str, version: str, key: str | None = None) -> Buyer:
        buyer = await Buyer.at(base(dealer, version), key)
        self.addAsyncCleanup(buyer.close)
        return buyer

    async def test_each_skill_is_served_in_each_version(self) -> None:
        for version in VERSIONS:
            with self.subTest(version):
                buyer = await self.buyer("brindlewood", version)
                self.assertTrue(buyer.contract.endswith(f"/extensions/aap/{version}"), buyer.contract)
                url = buyer.card.supported_interfaces[0].url
                self.assertTrue(url.endswith(f"/{version}/a2a"), url)

                dealer = await buyer.ask("dealer.information")
                self.assertTrue(dealer["name"] and dealer["rooftops"])
                facets = await buyer.ask("inventory.facets")
                self.assertTrue(facets["makes"])
                found = await buyer.ask("inventory.search", {"pagination": {"limit": 2}})
                self.assertEqual(len(found["vehicles"]), 2)
                self.assertEqual("skip" in found, version != "v3.0")
                self.assertEqual("next_cursor" in found, version == "v3.0")
                stock = found["vehicles"][0]["stock"]
                vehicle = await buyer.ask("inventory.vehicle", {"stock": stock})
                self.assertEqual(vehicle["vehicle_id"], found["vehicles"][0]["vehicle_id"])
                sent = lead(stock)
                taken = await buyer.ask("lead.submit", sent)
                self.assertEqual(taken["status"], "received")
                self.assertEqual(await buyer.ask("lead.submit", sent), taken, "sent again")

    async def test_the_second_page_follows_on_the_first_in_each_version(self) -> None:
        for version in VERSIONS:
            with self.subTest(version):
                buyer = await self.buyer("brindlewood", version)
                whole = await buyer.ask("inventory.search", {"pagination": {"limit": 4}})
                first = await buyer.ask("inventory.search", {"pagination": {"limit": 2}})
                on = {"cursor": first["next_cursor"]} if version == "v3.0" else {"skip": 2}
                second = await buyer.ask("inventory.search", {"pagination": {"limit": 2, **on}})
                ids = [car["vehicle_id"] for car in first["vehicles"] + second["vehicles"]]
                self.assertEqual(ids, [car["vehicle_id"] for car in whole["vehicles"]])

    async def test_a_key_opens_a_dealer_that_wants_one(self) -> None:
        for version in VERSIONS:
            with self.subTest(version):
                buyer = await self.buyer("gatehouse", version, KEY)
                self.assertIn("key", buyer.card.security_schemes)
                self.assertEqual((await buyer.ask("dealer.information"))["name"], "Gatehouse Autos")


def errors() -> list[dict[str, Any]]:
    """What is done wrong, with the time and a key that nobody used before."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return json.loads(ERRORS.replace("$NOW", now).replace("$FRESH", uuid.uuid4().hex))


async def provoke(wrong: dict[str, Any], buyer: Buyer) -> Exception:
    """Makes the call and returns what the SDK raised."""
    context = ClientCallContext(service_parameters={"A2A-Extensions": buyer.contract})
    sent = {name: wrong[name] for name in ("headers", "accept", "tenant", "task_id") if name in wrong}
    if wrong.get("another_message_before"):
        await buyer.send(wrong["skill"], {**wrong["request"], "message": "Something else."})
    for _ in range(2 if wrong.get("until_refused") else 1):
        try:
            match wrong.get("operation"):
                case "get_task":
                    await buyer.client.get_task(GetTaskRequest(id="none of ours"), context=context)
                case "create_push_config":
                    config = TaskPushNotificationConfig(task_id="none of ours", url="https://buyer.example/")
                    await buyer.client.create_task_push_notification_config(config, context=context)
                case None:
                    await buyer.send(wrong["skill"], wrong.get("request"), **sent)
        except (A2AClientError, A2AError) as error:
            return error
    raise AssertionError(f"{wrong['wrong']} was answered, not refused")


def seen(error: Exception, wrong: str) -> tuple[str, str, str]:
    """Number and exception and its data, in words. The message has to be there whole."""
    response = answered.get()
    if response.status_code != 200:
        assert str(response.status_code) in str(error), error
        assert "WWW-Authenticate" in response.headers and "Bearer" not in str(error)
        assert error.data is None, error.data
        return "–", f"`{type(error).__name__}`", "`None`"
    raw = response.json()["error"]
    assert str(error).endswith(raw["message"]), (wrong, error, raw)
    data = error.data
    if data is None:
        words = "`None`"
    else:
        info = next(entry for entry in raw["data"] if entry["@type"].endswith(".ErrorInfo"))
        assert data == info["metadata"], (wrong, data, info)
        words = ", ".join(f"`{name}`" for name in sorted(data))
    return str(raw["code"]), f"`{type(error).__name__}`", words


class Errors(unittest.IsolatedAsyncioTestCase):
    maxDiff = None

    async def rows(self) -> list[str]:
        rows = ["| what is wrong | in | `error.code` | raised | `error.data` |", "|---|---|---|---|---|"]
        for wrong in errors():
            cells: dict[tuple[str, str, str], list[str]] = {}
            for version in wrong.get("contracts", VERSIONS):
                dealer = wrong.get("dealer", "brindlewood")
                if dealer == "broken" and not FAULTS:
                    return []
                buyer = await Buyer.at(base(dealer, version))
                error = await provoke(wrong, buyer)
                cells.setdefault(seen(error, wrong["wrong"]), []).append(f"`{version}`")
                code = wrong["wrong"].strip("`")
                if code.isupper():
                    # What the SDK drops is found by the lines of docs/clients.md.
                    found = aap_error()
                    self.assertIsNotNone(found, wrong)
                    self.assertEqual(found["code"], code)
                    self.assertTrue(found["error_id"] and found["created_at"] and "retryable" in found)
                elif "401" not in code:
                    self.assertIsNone(aap_error(), wrong)
                await buyer.close()
            for at, (what, versions) in enumerate(cells.items()):
                everywhere = len(versions) == len(VERSIONS)
                rows.append(f"| {'' if at else wrong['wrong']} | {'all' if everywhere else ', '.join(versions)} | {' | '.join(what)} |")
        return rows

    async def test_what_a_caller_sees_of_each_error_is_what_the_page_says(self) -> None:
        rows = await self.rows()
        if not rows:
            self.skipTest("the platform was built without fault injection")
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        written, after = rest.split(END)
        table = "\n" + "\n".join(rows) + "\n\n"
        if os.environ.get("UPDATE_DOCS"):
            PAGE.write_text(before + BEGIN + table + END + after, encoding="utf-8")
        else:
            self.assertEqual(written, table, "docs/clients.md says otherwise; UPDATE_DOCS=1 writes it")

    def test_every_code_of_the_protocol_is_met(self) -> None:
        table = (PAGE.parent / "errors.md").read_text(encoding="utf-8")
        codes = re.findall(r"^\| `([A-Z_]+)` \|", table, flags=re.M)
        self.assertGreater(len(codes), 10)
        self.assertLessEqual(set(codes), {wrong["wrong"].strip("`") for wrong in errors()})

    def test_the_lines_that_the_page_recommends_are_those_that_are_tested(self) -> None:
        lines = (HERE / "aap_error.py").read_text(encoding="utf-8")
        self.assertIn(f"```python\n{lines}```\n", PAGE.read_text(encoding="utf-8"))

    async def test_tasks_that_ask_at_once_do_not_see_each_other(self) -> None:
        buyer = await Buyer.at(base("brindlewood", "v1.3"))
        self.addAsyncCleanup(buyer.close)

        async def ask(stock: str) -> str:
            try:
                await buyer.send("inventory.vehicle", {"stock": stock, **({"colour": 1} if stock == "b" else {})})
            except (A2AClientError, A2AError):
                return aap_error()["code"]
            return "answered"

        codes = await asyncio.gather(*(ask(stock) for stock in "abab"))
        self.assertEqual(codes, ["VEHICLE_NOT_FOUND", "SCHEMA_VALIDATION_FAILED"] * 2)


class Numbers(unittest.IsolatedAsyncioTestCase):
    async def test_every_number_arrives_as_a_float(self) -> None:
        """docs/clients.md says so: whoever prints a year has to convert it."""
        buyer = await Buyer.at(base("brindlewood", "v1.3"))
        self.addAsyncCleanup(buyer.close)
        answer = await buyer.send("inventory.search", {"pagination": {"limit": 1}})
        data = get_data_parts(answer.parts)[0]["data"]
        self.assertIsInstance(data["total"], float)


if __name__ == "__main__":
    unittest.main(verbosity=2)

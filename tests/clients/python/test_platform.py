"""The official Python SDK, unchanged, against every dealer in FORECOURT_TEST_BASES.

The variable holds base addresses with blanks between them; scripts/client-tests starts a platform and sets it.
"""

from __future__ import annotations

import logging
import os
import unittest

from a2a.client import A2AClientError
from a2a.helpers.proto_helpers import get_data_parts
from a2a.types.a2a_pb2 import Role
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    ExtensionSupportRequiredError,
    InvalidParamsError,
    TaskNotFoundError,
)
from google.protobuf.json_format import MessageToDict

from buyer import CONTRACT, Buyer, media_type

BASES = os.environ.get("FORECOURT_TEST_BASES", "").split()
# unittest runs its loops in debug mode, where the SDK's first import counts as a slow step.
logging.getLogger("asyncio").setLevel(logging.ERROR)

SKILLS = ("dealer.information", "inventory.facets", "inventory.search", "inventory.vehicle", "lead.submit")


class AtADealer(unittest.IsolatedAsyncioTestCase):
    """What holds at every dealer; `load_tests` makes one set of these for each base address."""

    base = ""

    def __str__(self) -> str:
        return f"a2a-sdk at {self.base}: {self._testMethodName}"

    async def asyncSetUp(self) -> None:
        self.buyer = await Buyer.at(self.base)
        self.addAsyncCleanup(self.buyer.close)

    async def refusal(self, kind: type[Exception], skill: str, request: dict | None = None, **sent: object) -> Exception:
        with self.assertRaises(kind) as caught:
            await self.buyer.send(skill, request, **sent)
        return caught.exception

    async def test_card_is_found_below_the_base_address(self) -> None:
        card = self.buyer.card
        self.assertTrue(card.name)
        preferred = card.supported_interfaces[0]
        self.assertEqual((preferred.protocol_binding, preferred.protocol_version), ("JSONRPC", "1.0"))
        self.assertTrue(preferred.url.endswith("a2a"), preferred.url)
        contracts = [entry for entry in card.capabilities.extensions if "/extensions/aap/" in entry.uri]
        self.assertEqual([(entry.uri, entry.required) for entry in contracts], [(CONTRACT, True)])
        self.assertTrue(MessageToDict(contracts[0].params)["id"])
        for skill in SKILLS:
            self.assertIn(skill, [entry.id for entry in card.skills])
            self.assertIn(media_type(skill, "request"), card.default_input_modes)
            self.assertIn(media_type(skill, "response"), card.default_output_modes)

    async def test_search_answers_one_message_with_one_part(self) -> None:
        # This SDK sends every number as a double: the platform reads 3.0 where the contract says integer.
        answer = await self.buyer.send("inventory.search", {"pagination": {"limit": 3}})
        self.assertEqual(answer.role, Role.ROLE_AGENT)
        self.assertTrue(answer.message_id and answer.context_id)
        self.assertEqual([part.media_type for part in answer.parts], [media_type("inventory.search", "response")])
        payload = get_data_parts(answer.parts)[0]
        self.assertEqual(payload["type"], "inventory.search.response")
        data = payload["data"]
        self.assertEqual(len(data["vehicles"]), 3)
        self.assertGreater(data["total"], 3)
        self.assertEqual(data["limit"], 3)
        self.assertEqual(data["applied_filters"], {})
        for vehicle in data["vehicles"]:
            self.assertIn(vehicle["status"], ("available", "intransit", "pending"))
            self.assertTrue(vehicle["vehicle_id"] and vehicle["updated_at"])

    async def test_conversation_keeps_its_context_id(self) -> None:
        answer = await self.buyer.send("dealer.information", context_id="shopping for a used wagon")
        self.assertEqual(answer.context_id, "shopping for a used wagon")

    async def test_filters_and_sort_hold_for_every_vehicle(self) -> None:
        make = (await self.buyer.ask("inventory.facets"))["makes"][0]["value"]
        ascending = {"field": "price", "order": "asc"}
        cheap = await self.buyer.ask(
            "inventory.search", {"filters": {"make": [make]}, "pagination": {"limit": 5}, "sort": ascending}
        )
        price_max = cheap["vehicles"][-1]["price"]
        filters = {"make": [make.upper()], "price_max": price_max}
        sort = {"field": "price", "order": "desc"}
        found = await self.buyer.ask("inventory.search", {"filters": filters, "sort": sort})
        self.assertGreaterEqual(found["total"], len(cheap["vehicles"]))
        self.assertEqual(found["applied_filters"], filters)
        self.assertEqual(found["sort"], sort)
        prices = [vehicle["price"] for vehicle in found["vehicles"]]
        self.assertEqual(prices[0], price_max)
        self.assertEqual(prices, sorted(prices, reverse=True))
        self.assertEqual({vehicle["make"] for vehicle in found["vehicles"]}, {make})

    async def test_cursor_pages_hold_each_match_once(self) -> None:
        facet = (await self.buyer.ask("inventory.facets"))["makes"][0]
        count = int(facet["count"])
        request = {"filters": {"make": [facet["value"]]}, "sort": {"field": "updated_at", "order": "desc"}}
        pagination = {"limit": min(100, -(-count // 3))}
        ids: list[str] = []
        while True:
            page = await self.buyer.ask("inventory.search", {**request, "pagination": pagination})
            self.assertEqual(page["total"], count)
            self.assertTrue(page["vehicles"], "an empty page before the end")
            ids += [vehicle["vehicle_id"] for vehicle in page["vehicles"]]
            if page["next_cursor"] is None or len(ids) > count:
                break
            pagination = {**pagination, "cursor": page["next_cursor"]}
        self.assertEqual(len(ids), count)
        self.assertEqual(len(set(ids)), count)

    async def test_facets_count_what_a_search_finds(self) -> None:
        filters = {"status": ["available"]}
        facets = await self.buyer.ask("inventory.facets", {"filters": filters})
        found = await self.buyer.ask("inventory.search", {"filters": filters, "pagination": {"limit": 1}})
        self.assertEqual(facets["statuses"], [{"value": "available", "count": found["total"]}])

    async def test_dealer_introduces_itself(self) -> None:
        dealer = await self.buyer.ask("dealer.information")
        self.assertTrue(dealer["name"])
        self.assertTrue(dealer["rooftops"][0]["name"])

    async def test_vehicle_of_a_search_is_found_by_each_of_its_keys(self) -> None:
        listed = (await self.buyer.ask("inventory.search", {"pagination": {"limit": 1}}))["vehicles"][0]
        for key in ("vehicle_id", "stock", "vin"):
            if key in listed:
                vehicle = await self.buyer.ask("inventory.vehicle", {key: listed[key]})
                self.assertEqual(vehicle["vehicle_id"], listed["vehicle_id"], key)

    async def test_unknown_vehicle_arrives_in_the_message(self) -> None:
        # For -32000 this SDK keeps the message and nothing else: the code has to stand in it.
        error = await self.refusal(A2AClientError, "inventory.vehicle", {"stock": "no such unit"})
        self.assertRegex(str(error), r"-32000: VEHICLE_NOT_FOUND\b")

    async def test_wrong_request_arrives_with_its_code(self) -> None:
        wrong = {"filters": {"colour": ["red"], "year_min": "new"}, "pagination": {"limit": 0}}
        error = await self.refusal(InvalidParamsError, "inventory.search", wrong)
        self.assertEqual(error.data["code"], "SCHEMA_VALIDATION_FAILED")
        self.assertEqual(error.data["retryable"], "false")
        self.assertTrue(error.data["error_id"] and error.data["created_at"])

    async def test_made_up_cursor_and_unknown_skill_are_told_apart(self) -> None:
        cursor = await self.refusal(InvalidParamsError, "inventory.search", {"pagination": {"cursor": "made-up"}})
        self.assertEqual(cursor.data["code"], "INVALID_CURSOR")
        skill = await self.refusal(InvalidParamsError, "service.booking")
        self.assertEqual(skill.data["code"], "UNSUPPORTED_SKILL")

    async def test_protocol_errors_arrive_as_the_classes_the_sdk_has(self) -> None:
        await self.refusal(ContentTypeNotSupportedError, "inventory.search", accept="text/plain")
        await self.refusal(TaskNotFoundError, "inventory.search", task_id="none of ours")
        headers = {"A2A-Extensions": "https://autoagentprotocol.org/extensions/aap/v1.3"}
        error = await self.refusal(ExtensionSupportRequiredError, "inventory.search", headers=headers)
        self.assertIn(CONTRACT, error.message)
        self.assertEqual(error.data["extensionUri"], CONTRACT)


def load_tests(loader: unittest.TestLoader, _standard: unittest.TestSuite, _pattern: str | None) -> unittest.TestSuite:
    if not BASES:
        raise SystemExit("FORECOURT_TEST_BASES names no dealer; scripts/client-tests sets it")
    suite = unittest.TestSuite()
    for number, base in enumerate(BASES):
        case = type(f"Dealer{number}", (AtADealer,), {"base": base})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The official Python SDK of MCP, unchanged, in the oldest and the newest protocol version that it speaks.

Every tool, one error of each kind, resources and prompts; scripts/client-tests starts a platform and says where it is.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import pathlib
import unittest
import uuid
from collections.abc import AsyncIterator

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

ORIGIN = os.environ.get("FORECOURT_PUBLIC_ORIGIN", "")
KEY = os.environ.get("FORECOURT_TEST_KEY", "")
# Only builds with fault injection can have a dealer that fails inside.
FAULTS = os.environ.get("FORECOURT_TEST_FAULTS") == "yes"
logging.getLogger("asyncio").setLevel(logging.ERROR)

OLDEST, NEWEST = "2024-11-05", "2026-07-28"
CONTRACTS = ("v1.3", "latest", "v3.0")
TOOLS = (
    "aap_dealer_information",
    "aap_inventory_facets",
    "aap_inventory_search",
    "aap_inventory_vehicle",
    "aap_lead_submit",
)


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


def errors() -> list[dict]:
    """What is done wrong at A2A, as far as it is about a skill: the same goes wrong here."""
    text = (pathlib.Path(__file__).parent.parent / "errors.json").read_text(encoding="utf-8")
    entries = json.loads(text.replace("$NOW", now()))
    return [wrong for wrong in entries if "skill" in wrong and wrong["wrong"].strip("`").replace("_", "").isupper()
            and wrong["wrong"].startswith("`")]


def lead() -> dict:
    """A lead of a shopper whom nobody has seen before."""
    shopper = str(uuid.uuid4())
    return {
        "customer": {"first_name": "Ilse", "last_name": "Marchetti", "email": f"{shopper}@post.example"},
        "consent": {
            "granted_at": now(),
            "allowed_channels": ["email"],
            "consent_text": "The dealer may write to me about this car.",
            "scope": ["lead_submission"],
        },
        "source_agent": {"name": "mcp tests"},
        "idempotency_key": shopper,
    }


class AsksFor(httpx2.AsyncBaseTransport):
    """The SDK asks for the newest version that has a handshake; an older one is asked for in its place."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        content = await request.aread()
        if b'"initialize"' in content:
            body = json.loads(content)
            body["params"]["protocolVersion"] = self.version
            headers = [(name, value) for name, value in request.headers.items() if name != "content-length"]
            request = httpx2.Request(request.method, request.url, headers=headers, content=json.dumps(body))
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self.inner.aclose()


@contextlib.asynccontextmanager
async def connected(
    version: str, dealer: str, contract: str, key: str = "", answers: list[httpx2.Response] | None = None
) -> AsyncIterator[Client]:
    async def note(answer: httpx2.Response) -> None:
        if answers is not None:
            answers.append(answer)

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    transport = AsksFor(version) if version != NEWEST else None
    async with httpx2.AsyncClient(
        headers=headers, transport=transport, trust_env=False, event_hooks={"response": [note]}
    ) as http:
        streams = streamable_http_client(f"{ORIGIN}/t/{dealer}/{contract}/mcp", http_client=http)
        async with Client(streams, mode="auto" if version == NEWEST else "legacy") as client:
            assert client.protocol_version == version, client.protocol_version
            # From here on the SDK checks the structures that it gets against the schemas of the tools.
            await client.list_tools()
            yield client


class AnAssistant(unittest.IsolatedAsyncioTestCase):
    async def test_every_tool_is_listed_and_answers(self) -> None:
        for version in (OLDEST, NEWEST):
            for contract in CONTRACTS:
                with self.subTest(version=version, contract=contract):
                    async with connected(version, "brindlewood", contract) as client:
                        await self.asks_everything(client)

    async def asks_everything(self, client: Client) -> None:
        self.assertEqual(tuple(tool.name for tool in (await client.list_tools()).tools), TOOLS)

        async def ask(name: str, request: dict) -> dict:
            result = await client.call_tool(name, request)
            self.assertFalse(result.is_error, result)
            self.assertEqual(result.content[0].type, "text")
            kind = name.removeprefix("aap_").replace("_", ".", 1)
            self.assertEqual(result.structured_content["type"], f"{kind}.response")
            return result.structured_content["data"]

        self.assertTrue((await ask(TOOLS[0], {}))["rooftops"])
        self.assertTrue((await ask(TOOLS[1], {}))["makes"])
        found = await ask(TOOLS[2], {"pagination": {"limit": 3}, "sort": {"field": "price", "order": "asc"}})
        self.assertEqual(len(found["vehicles"]), 3)
        wanted = {"vehicle_id": found["vehicles"][0]["vehicle_id"]}
        self.assertEqual((await ask(TOOLS[3], wanted))["vehicle_id"], wanted["vehicle_id"])
        sent = lead() | {"vehicle_of_interest": wanted}
        taken = await ask(TOOLS[4], sent)
        self.assertEqual(taken["status"], "received")
        self.assertEqual(await ask(TOOLS[4], sent), taken, "sent again")

    async def test_one_error_of_each_kind_is_read_whole(self) -> None:
        for version in (OLDEST, NEWEST):
            for contract in CONTRACTS:
                for wrong in errors():
                    code = wrong["wrong"].strip("`")
                    if contract not in wrong.get("contracts", CONTRACTS) or (code == "INTERNAL_ERROR" and not FAULTS):
                        continue
                    with self.subTest(version=version, contract=contract, code=code):
                        async with connected(version, wrong.get("dealer", "brindlewood"), contract) as client:
                            await self.is_refused(client, wrong, code)

    async def is_refused(self, client: Client, wrong: dict, code: str) -> None:
        request = json.loads(json.dumps(wrong.get("request", {})).replace("$FRESH", str(uuid.uuid4())))
        name = "aap_" + wrong["skill"].replace(".", "_")
        if wrong.get("another_message_before"):
            await client.call_tool(name, request | {"message": "Something else."})
        result = await client.call_tool(name, request)
        if wrong.get("until_refused") and not result.is_error:
            result = await client.call_tool(name, request)
        self.assertTrue(result.is_error, result)
        error = result.structured_content
        self.assertEqual((error["type"], error["code"]), ("aap.error", code))
        self.assertIn(error["retryable"], (True, False))
        self.assertTrue(error["error_id"] and error["message"] and error["created_at"])
        if code == "SCHEMA_VALIDATION_FAILED":
            self.assertEqual(len(error["details"]["errors"]), 2)
        self.assertTrue(result.content[0].text.startswith(f"{code}: "), result.content[0].text)

    async def test_errors_of_the_protocol_resources_and_prompts(self) -> None:
        for version in (OLDEST, NEWEST):
            with self.subTest(version=version):
                async with connected(version, "brindlewood", "v3.0") as client:
                    for call in (client.call_tool("aap_none", {}), client.get_prompt("find_a_car", {})):
                        with self.assertRaises(MCPError) as caught:
                            await call
                        self.assertEqual(caught.exception.error.code, -32602)
                    resources = (await client.list_resources()).resources
                    uris = [str(resource.uri) for resource in resources]
                    self.assertEqual(uris, ["aap://brindlewood/dealer", "aap://brindlewood/facets"])
                    read = await client.read_resource(uris[0])
                    self.assertEqual(json.loads(read.contents[0].text)["type"], "dealer.information.response")
                    with self.assertRaises(MCPError) as caught:
                        await client.read_resource("aap://brindlewood/vehicles/none")
                    self.assertEqual(caught.exception.error.data["code"], "VEHICLE_NOT_FOUND")
                    prompts = (await client.list_prompts()).prompts
                    self.assertEqual([prompt.name for prompt in prompts], ["find_a_car", "contact_the_dealer"])
                    prompt = await client.get_prompt("find_a_car", {"wish": "a small one"})
                    self.assertIn("a small one", prompt.messages[0].content.text)

    async def test_a_key_opens_a_dealer_that_wants_one(self) -> None:
        for version in (OLDEST, NEWEST):
            with self.subTest(version=version):
                async with connected(version, "gatehouse", "v3.0", KEY) as client:
                    result = await client.call_tool(TOOLS[0], {})
                    self.assertEqual(result.structured_content["data"]["name"], "Gatehouse Autos")
                answers: list[httpx2.Response] = []
                # What the SDK raises depends on the Python below it; that it was not let in does not.
                with self.assertRaises(Exception):
                    async with connected(version, "gatehouse", "v3.0", answers=answers):
                        pass
                self.assertEqual({answer.status_code for answer in answers}, {401})
                self.assertTrue(answers[0].headers["www-authenticate"].startswith("Bearer "))


if __name__ == "__main__":
    unittest.main()

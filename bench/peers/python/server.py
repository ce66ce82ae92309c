"""inventory.search of one dealer, answered by SQL, behind the official Python SDK: as its documentation sets it up,
with the fastest event loop and parser that its HTTP server knows, as many processes as processors.

    python server.py SOCKET_FOLDER PORT_OF_POSTGRES DATABASE SLUG PROCESSES
"""

import json
import logging
import os
import socket
import sys
import threading
import urllib.request
from contextlib import asynccontextmanager

import asyncpg
import uvicorn
from a2a.helpers.proto_helpers import get_data_parts, new_data_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

FOLDER, POSTGRES, DATABASE, SLUG, PROCESSES = sys.argv[1:6]
PATH = f"/t/{SLUG}/v3.0/a2a"
ONE_OF = {"make", "model", "trim", "condition", "body", "fuel", "driveline", "exterior_color"}
ORDERS = {"price": "price_usd", "mileage": "mileage_mi", "year": "year", "updated_at": "updated_at"}
MEDIA_TYPE = "application/vnd.autoagent.inventory-search-response+json"


def whole(number):
    # The SDK reads every number of a request as a fraction.
    return int(number) if isinstance(number, float) and number.is_integer() else number


class Executor(AgentExecutor):
    pool = None
    tenant = None

    async def execute(self, context, event_queue):
        request = get_data_parts(context.message.parts)[0]
        answer = {"type": "inventory.search.response", "data": await self.search(request)}
        message = new_data_message(answer, media_type=MEDIA_TYPE, context_id=context.context_id)
        await event_queue.enqueue_event(message)

    async def cancel(self, context, event_queue):
        pass

    async def search(self, request):
        values = [self.tenant]
        conditions = ["tenant_id = $1"]
        filters = {name: whole(value) for name, value in request.get("filters", {}).items()}

        def bind(value):
            values.append(value)
            return f"${len(values)}"

        for name, value in filters.items():
            if name in ONE_OF:
                conditions.append(f"{name} = any({bind(value)})")
            elif name == "features":
                conditions.append(f"features @> {bind(value)}")
            elif name == "year_min":
                conditions.append(f"year >= {bind(value)}")
            elif name == "price_max":
                conditions.append(f"price_usd <= {bind(value)}")
            elif name == "mileage_max":
                conditions.append(f"mileage_mi <= {bind(value)}")
            else:
                raise ValueError(f"the filter {name} is not known here")
        sort = request["sort"]
        limit = whole(request["pagination"]["limit"])
        order = "desc" if sort["order"] == "desc" else "asc"
        rows = await self.pool.fetch(
            f"select count(*) over () as total, listing from vehicles where {' and '.join(conditions)} "
            f"order by {ORDERS[sort['field']]} {order} nulls last, vehicle_id limit {bind(limit)}",
            *values,
        )
        return {
            "total": rows[0]["total"] if rows else 0,
            "limit": limit,
            "next_cursor": None,
            "applied_filters": filters,
            "sort": dict(sort),
            "vehicles": [json.loads(row["listing"]) for row in rows],
        }


def end_with_parent():
    parent = os.getppid()
    while os.getppid() == parent:
        threading.Event().wait(1)
    os._exit(1)


def application():
    threading.Thread(target=end_with_parent, daemon=True).start()
    logging.getLogger("a2a").setLevel(logging.ERROR)
    executor = Executor()

    @asynccontextmanager
    async def lifespan(_):
        executor.pool = await asyncpg.create_pool(
            host=FOLDER, port=int(POSTGRES), user="postgres", database=DATABASE, min_size=4, max_size=4,
            statement_cache_size=2000, server_settings={"search_path": "forecourt"},
        )
        executor.tenant = await executor.pool.fetchval("select tenant_id from tenant_slugs where slug = $1", SLUG)
        yield
        await executor.pool.close()

    card = AgentCard(
        name=SLUG, description="A dealer", version="1.0.0", capabilities=AgentCapabilities(),
        supported_interfaces=[
            AgentInterface(url=f"http://127.0.0.1{PATH}", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        default_input_modes=["application/json"], default_output_modes=["application/json"],
    )
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    routes = [*create_jsonrpc_routes(handler, PATH), Route("/", lambda _: PlainTextResponse("ready"))]
    return Starlette(routes=routes, lifespan=lifespan)


def tell_when_ready(port):
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
            break
        except OSError:
            threading.Event().wait(0.1)
    print(f"listening on 127.0.0.1:{port}", flush=True)


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    threading.Thread(target=tell_when_ready, args=(free,), daemon=True).start()
    uvicorn.run(
        "server:application", factory=True, host="127.0.0.1", port=free, workers=int(PROCESSES),
        log_level="error", access_log=False, loop="uvloop", http="httptools",
    )

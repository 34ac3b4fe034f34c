import os
from fastapi import FastAPI, Response
import json

DSN, ROWS = os.environ["DSN"], "SELECT i AS id, 'item ' || i AS name, i * 7 AS price FROM generate_series(1, {0}) i"
app = FastAPI()

if os.environ["DRIVER"] == "asyncpg":
    import asyncpg

    @app.on_event("startup")
    async def open_pool():
        app.pool = await asyncpg.create_pool(DSN, min_size=8, max_size=8)

    async def fetch(rows):
        async with app.pool.acquire() as connection:
            return [tuple(row) for row in await connection.fetch(ROWS.format("$1::int"), rows)]
else:
    import asyncio, psycopg

    @app.on_event("startup")
    async def open_pool():
        app.pool = asyncio.Queue()
        for _ in range(8):
            app.pool.put_nowait(await psycopg.AsyncConnection.connect(DSN, autocommit=True))

    async def fetch(rows):
        connection = await app.pool.get()
        try:
            return await (await connection.execute(ROWS.format("%s::int"), (rows,))).fetchall()
        finally:
            app.pool.put_nowait(connection)

@app.get("/items")
async def items(rows: int):
    return Response(json.dumps(await fetch(rows)), media_type="application/json")

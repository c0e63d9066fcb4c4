"""Calls the server for agents by the official SDK in Python, and prints what came as JSON.

Arguments: the address, a token, a repository, the mode of the connection ("auto" or "legacy").
"""
import asyncio, json, sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

address, token, repository, mode = sys.argv[1:]


async def main():
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = await client.list_tools()
            arguments = {"repository": repository, "title": "Opened in Python"}
            opened = await client.call_tool("create_issue", arguments)
            number = opened.structured_content["number"]
            read = await client.call_tool("get_issue", {"repository": repository, "number": number})
            print(json.dumps({"tools": [tool.name for tool in tools.tools], "read": read.content[0].text}))


asyncio.run(main())

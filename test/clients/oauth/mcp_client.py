"""Gets a token by the Model Context Protocol's client: prints an address, reads where its user was led, and prints what came.

Lines on standard output are JSON: first {"address"}, then {"status", "token", "scope"}. The door for agents is played here.
"""
import asyncio, json, sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.shared.auth import OAuthClientMetadata

server, callback, challenge = sys.argv[1:]


class Storage:
    tokens = None
    client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class Door(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        if str(request.url) != server:
            return await super().handle_async_request(request)
        if "authorization" in request.headers:
            return httpx2.Response(202, request=request)
        return httpx2.Response(401, headers={"WWW-Authenticate": challenge}, request=request)


async def redirect(address):
    print(json.dumps({"address": address}), flush=True)


async def answered():
    line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlparse(line.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main():
    storage = Storage()
    metadata = OAuthClientMetadata(client_name="An agent", redirect_uris=[callback])
    auth = OAuthClientProvider(server, metadata, storage, redirect, answered)
    async with httpx2.AsyncClient(auth=auth, transport=Door()) as client:
        answer = await client.post(server, json={}, headers={"MCP-Protocol-Version": "2025-11-25"})
    tokens = storage.tokens
    print(json.dumps({"status": answer.status_code, "token": tokens.access_token, "scope": tokens.scope}))


asyncio.run(main())

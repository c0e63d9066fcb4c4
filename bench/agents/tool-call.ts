const PROTOCOL = "2026-07-28";

/** The request of a call of a tool, which stands alone. Its answer is 200, also for a refusal. */
export function formatToolCall(
  token: string,
  name: string,
  args: object,
): { headers: Record<string, string>; body: object } {
  return {
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": PROTOCOL,
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name,
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": PROTOCOL,
          "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    },
  };
}

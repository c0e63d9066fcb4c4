import { type Answer, visit } from "./call.ts";

/** The revision of whose requests each stands alone, and one that begins with `initialize`. */
export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;
type Revision = (typeof REVISIONS)[number];

/** A result or an error of a call, with the status of its answer. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests match the shape that they expect
  readonly result: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests match the shape that they expect
  readonly error: any;
}

/** A client of the server that sends requests as the protocol has them. */
export class McpClient {
  readonly #token: string | undefined;
  readonly #revision: Revision;
  readonly #headers: Record<string, string>;

  constructor(
    token: string | undefined,
    revision: Revision = "2026-07-28",
    headers: Record<string, string> = {},
  ) {
    this.#token = token;
    this.#revision = revision;
    this.#headers = headers;
  }

  async request(method: string, params: Record<string, unknown> = {}): Promise<McpAnswer> {
    const isAlone = this.#revision === "2026-07-28";
    const name = params["name"] ?? params["uri"];
    const meta = {
      "io.modelcontextprotocol/protocolVersion": this.#revision,
      "io.modelcontextprotocol/clientInfo": { name: "tester", version: "1.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    return toMcpAnswer(
      await visit("POST", "/mcp", {
        ...(this.#token !== undefined && { token: this.#token }),
        headers: {
          Accept: "application/json, text/event-stream",
          "User-Agent": "tester/1.0",
          "MCP-Protocol-Version": this.#revision,
          ...(isAlone && { "Mcp-Method": method }),
          ...(isAlone && typeof name === "string" && { "Mcp-Name": name }),
          ...this.#headers,
        },
        json: {
          jsonrpc: "2.0",
          id: 1,
          method,
          params: isAlone ? { ...params, _meta: meta } : params,
        },
      }),
    );
  }

  /** Calls a tool. */
  async tool(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const { result, error, status } = await this.request("tools/call", { name, arguments: args });
    if (error) throw new Error(`${status} ${error.message}`);
    return {
      text: result.content[0].text,
      isError: result.isError ?? false,
      structured: result.structuredContent,
    };
  }

  async toolNames(): Promise<string[]> {
    const { result } = await this.request("tools/list");
    return result.tools.map((tool: { name: string }) => tool.name);
  }
}

interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests match the shape that they expect
  readonly structured: any;
}

/** The message of an answer: its body, or that of the only event of a stream. */
function toMcpAnswer({ status, headers, body }: Answer): McpAnswer {
  const event = typeof body === "string" ? /^data: (.+)$/m.exec(body)?.[1] : undefined;
  const message = event === undefined ? body : JSON.parse(event);
  return { status, headers, result: message.result, error: message.error };
}

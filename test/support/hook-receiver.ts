import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** A request that the webhook receiver got. */
export interface ReceivedHook {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Whether all signature headers match the payload, by the secret in the query of its URL. */
  isSigned: boolean;
  /**
   * By the receiver's clock, in milliseconds: when the request was complete, and when the response
   * was sent.
   */
  at: number;
  answeredAt: number | undefined;
}

const journals = new Map<string, ReceivedHook[]>();

/**
 * Responds as `plan` lists: one item per request, separated by bars; the last item repeats. Items:
 * a status, `hang`, `break`, `garbage`, `large`, `slow` or `odd`; after a colon follow the delay in
 * milliseconds, or the value of `Retry-After`. Each request is recorded under `id`.
 */
export async function receiveHook(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  pieces: readonly Uint8Array[],
): Promise<void> {
  const query = (name: string) => url.searchParams.get(name) ?? "";
  const journal = journals.get(query("id")) ?? [];
  journals.set(query("id"), journal);
  const body = Buffer.concat(pieces).toString();
  const headers = request.headers as Record<string, string>;
  const entry: ReceivedHook = {
    method: request.method ?? "",
    path: request.url ?? "",
    headers,
    body,
    isSigned: isSigned(headers, body, query("secret")),
    at: Date.now(),
    answeredAt: undefined,
  };
  journal.push(entry);
  response.on("finish", () => (entry.answeredAt = Date.now()));

  const plan = query("plan").split("|");
  const [item = "", detail = ""] = (plan[journal.length - 1] ?? plan.at(-1) ?? "").split(/:(.*)/);
  switch (item) {
    case "hang":
      return;
    case "break":
      return void request.socket.destroy();
    case "garbage":
      return void request.socket.end("SSH-2.0-OpenSSH\r\n");
    case "large":
      return void response.end(Buffer.alloc(10_000_000, "ü"));
    case "slow":
      await new Promise((resolve) => void setTimeout(resolve, Number(detail)));
      return void response.end("at last");
    case "odd": {
      const many = Array.from(
        { length: 100 },
        (_, at) => [`X-Many-${at}`, "x".repeat(500)] as const,
      );
      response.writeHead(200, [["Set-Cookie", "session=1"], ["X-First", "1"], ...many].flat());
      return void response.end(Buffer.from([0x61, 0, 0xff, 0x62]));
    }
    default:
      return void response
        .writeHead(Number(item || 200), detail === "" ? {} : { "Retry-After": detail })
        .end("as planned");
  }
}

export const readJournal = (id: string): readonly ReceivedHook[] => journals.get(id) ?? [];

function isSigned(headers: Record<string, string>, body: string, secret: string): boolean {
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  const signed = isForm ? (new URLSearchParams(body).get("payload") ?? "") : body;
  const hmac = (hash: string) => createHmac(hash, secret).update(signed).digest("hex");
  return (
    headers["x-gitea-signature"] === hmac("sha256") &&
    headers["x-gogs-signature"] === hmac("sha256") &&
    headers["x-hub-signature"] === `sha1=${hmac("sha1")}` &&
    headers["x-hub-signature-256"] === `sha256=${hmac("sha256")}`
  );
}

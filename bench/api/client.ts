import { Agent, request as open } from "node:http";

import type { Request } from "./cases.ts";

export type Answer = { status: number; requestId: string; bytes: number; durationMs: number };

/**
 * A client of one server with persistent connections. Functions, not methods, so that callers can
 * pass them on.
 */
export type Client = { send: (request: Request) => Promise<Answer>; close: () => void };

export function openClient(origin: URL): Client {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = origin;

  const send = ({ method, path, token, headers: own, body }: Request) =>
    new Promise<Answer>((resolve, reject) => {
      const startedAt = performance.now();
      const headers = {
        ...(token && { authorization: `token ${token}` }),
        ...(body && { "content-type": "application/json", "content-length": body.length }),
        ...own,
      };
      const sent = open({ agent, hostname, port, method, path, headers }, (answer) => {
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
        answer.once("error", reject);
        answer.once("end", () => {
          const durationMs = performance.now() - startedAt;
          const requestId = String(answer.headers["x-request-id"] ?? "");
          resolve({ status: answer.statusCode ?? 0, requestId, bytes, durationMs });
        });
      });
      sent.once("error", reject);
      sent.end(body);
    });

  return { send, close: () => agent.destroy() };
}

/**
 * @throws Error if the status is not the expected one, because the measurement would be
 *   meaningless.
 */
export async function ask(
  { send }: Client,
  { name, status, next }: { name: string; status: number; next: () => Request },
): Promise<Answer> {
  const request = next();
  const answer = await send(request);
  if (answer.status === status) return answer;
  throw new Error(`${name}: ${request.method} ${request.path} answered ${answer.status}`);
}

import { once } from "node:events";
import { Agent, type IncomingMessage, request as open } from "node:http";
import { text } from "node:stream/consumers";

const agent = new Agent({ keepAlive: true });

/** Sends a request; `fetch` writes its body in a second packet, which waits for 40 ms. */
export async function sendJson(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<{ status: number; text: string }> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const request = open(url, {
    agent,
    method,
    headers: {
      ...(sent !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(sent),
      }),
      ...headers,
    },
  });
  request.end(sent);
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}

import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { serviceUrl } from "./forge.ts";

/** Another address of the service. */
export interface Forward {
  readonly url: string;
  close(): void;
}

/**
 * Listens at an address of its own and forwards every request to the service, which sends none to
 * addresses that it knows as its own.
 */
export async function openForward(): Promise<Forward> {
  const server = createServer(forward);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function forward(incoming: IncomingMessage, answer: ServerResponse): void {
  const { method, url = "/", headers } = incoming;
  const { host: _host, ...rest } = headers;
  const outgoing = request(new URL(url, serviceUrl), { method, headers: rest }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  outgoing.on("error", () => answer.destroy());
  incoming.pipe(outgoing);
}

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";

/** A service of this process that the Worker reaches by a binding, at a socket. */
export type HostService = { path: string; close: () => void };

/** @param path The socket at which it listens. */
export async function openHostService(path: string, answer: RequestListener): Promise<HostService> {
  const server = createServer(answer);
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

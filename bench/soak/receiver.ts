import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A receiver of webhooks on loopback. Functions rather than methods, so that callers can pass them
 * on.
 */
export type Receiver = {
  origin: string;
  /** Announces a push whose webhook is expected. */
  expect: (commit: string) => void;
  /** The number of expected webhooks that have not arrived. */
  pending: () => number;
  close: () => Promise<void>;
};

/** @param onArrival Called with the time from a push to the arrival of its webhook. */
export async function openReceiver(onArrival: (durationMs: number) => void): Promise<Receiver> {
  const expected = new Map<string, number>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.once("end", () => {
      response.writeHead(204).end();
      const [, commit = ""] = /"after": "([0-9a-f]+)"/.exec(Buffer.concat(pieces).toString()) ?? [];
      const startedAtMs = expected.get(commit);
      // A repeated delivery was counted before.
      if (startedAtMs === undefined) return;
      expected.delete(commit);
      onArrival(performance.now() - startedAtMs);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect: (commit) => void expected.set(commit, performance.now()),
    pending: () => expected.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
